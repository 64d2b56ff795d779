"""How the C library keeps freed memory."""

from __future__ import annotations

import ctypes
from typing import Final

_M_ARENA_MAX: Final = -8
_ARENAS: Final = 2


def bound_arenas() -> None:
    """Let threads share two arenas; glibc would keep up to eight a core, each with its own holes.

    To be called before any thread begins. Other C libraries have no such setting.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)
