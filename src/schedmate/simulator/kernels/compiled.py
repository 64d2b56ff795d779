"""How a kernel is compiled: once for a machine, kept on disk, and free of Python's lock.

The machine code is kept beside the source, or in the user's cache where that cannot be written to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from numba import njit

Takes = ParamSpec("Takes")
Gives = TypeVar("Gives")


def compiled(function: Callable[Takes, Gives]) -> Callable[Takes, Gives]:
    """A kernel: what Python calls."""
    quick: Callable[Takes, Gives] = njit(cache=True, nogil=True)(function)
    return quick


def part(function: Callable[Takes, Gives]) -> Callable[Takes, Gives]:
    """What only kernels call: it is kept on disk as a part of them. Numba looks only at a kernel's
    own file to see whether it changed: remove what it kept after changing a part."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    quick: Callable[Takes, Gives] = njit(**options)(function)
    return quick
