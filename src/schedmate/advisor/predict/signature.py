"""Code that is nearly the same, recognised by a few numbers: MinHash over its lines.

The share of equal numbers in two signatures is about the share of lines that two programs have in
common, so one changed line leaves them near, wherever it is and whatever the files are called.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

SIZE = 64
_MOST_LINES = 100_000
_PRIME = np.uint64((1 << 61) - 1)
_RANDOM = np.random.default_rng(20240607)
_FACTORS = _RANDOM.integers(1, 1 << 32, SIZE, np.uint64)
_OFFSETS = _RANDOM.integers(0, 1 << 32, SIZE, np.uint64)
_CHUNK = 4096
_NOTHING = 0xFFFFFFFF


def signature(texts: Sequence[str]) -> tuple[int, ...]:
    """Of all files together; blank lines, indentation and comments of a line do not count."""
    lines: set[bytes] = set()
    for text in texts:
        lines.update(line.strip() for line in text.encode(errors="replace").splitlines())
        if len(lines) > _MOST_LINES:
            break
    hashes = [zlib.crc32(line) for line in lines if line and not line.startswith(b"#")]
    if not hashes:
        return ()
    return tuple(_least(np.array(hashes, np.uint64)).tolist())


def _least(hashes: np.typing.NDArray[np.uint64]) -> np.typing.NDArray[np.uint64]:
    least = np.full(SIZE, _NOTHING, np.uint64)
    for start in range(0, len(hashes), _CHUNK):
        part = hashes[start : start + _CHUNK, None]
        mixed = (part * _FACTORS + _OFFSETS) % _PRIME & np.uint64(_NOTHING)
        least = np.minimum(least, mixed.min(axis=0))
    return least


def alike(one: Sequence[int], other: Sequence[int]) -> float:
    """From 0 to 1; 0 where one of them is not known."""
    if len(one) != len(other) or not one:
        return 0.0
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
