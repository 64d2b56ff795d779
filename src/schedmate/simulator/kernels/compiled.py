"""How a kernel is compiled: once for a machine, kept on disk, and free of Python's lock.

The machine code is kept beside the source, or in the user's cache where that cannot be written to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

Takes = ParamSpec("Takes")
Gives = TypeVar("Gives")


def compiled(function: Callable[Takes, Gives]) -> Callable[Takes, Gives]:
    quick: Callable[Takes, Gives] = njit(cache=True, nogil=True)(function)
    return quick
