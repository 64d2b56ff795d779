"""Code that is nearly the same, recognised by a few numbers: MinHash over its lines.

The share of equal numbers in two signatures is about the share of lines that two programs have in
common, so one changed line leaves them near, wherever it is and whatever the files are called.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Sequence

SIZE = 64
_MOST_LINES = 100_000
_PRIME = (1 << 61) - 1
_CHUNK = 4096
"""Lines that are hashed at once; fewer take less time than importing numpy does."""
_NOTHING = 0xFFFFFFFF
# fmt: off
_FACTORS = (
    2725674321, 574562792, 2877522820, 1757937163, 3763625982, 2057863199, 232982528, 3666722925,
    2713485872, 2765503025, 2608372854, 479670979, 374072460, 2263949449, 3690731427, 1290546597,
    4048307826, 1914786359, 3068624334, 2135306546, 2440076433, 3316691412, 3658984510, 280058290,
    4251741537, 3080277665, 4231460258, 839508941, 1544970372, 1806979768, 816038522, 2360239012,
    3678506411, 1942702313, 1404156396, 4054491505, 282975954, 508161426, 3804036245, 3921984221,
    3361691260, 547354226, 2150756303, 2972327583, 3851280175, 3717108478, 534120381, 3371246660,
    830426490, 3958754308, 2552546207, 2323024584, 3152748789, 3071062434, 3714105008, 2848919793,
    2186654171, 2474892665, 2616808687, 93419256, 2618350056, 2024777365, 3516796771, 3028813922,
)
_OFFSETS = (
    1068101414, 1843600228, 3928852040, 1485020574, 3359460698, 1060709298, 1633774922,
    3801831058, 1822406267, 2716388025, 3143659960, 2560444845, 3422977360, 1805969043,
    1742526606, 826892187, 312944514, 3761345561, 4235074868, 3090741256, 385746249, 659243668,
    59935323, 3874145211, 2368871388, 2871795783, 3677299145, 2063252949, 3615049304, 1497924110,
    3613314959, 1103069938, 168003393, 2335876437, 1281805075, 1893277583, 1833272436, 3103679730,
    3425111646, 1118799189, 1209850494, 4204745281, 3561823476, 1425024591, 2388683167,
    4233532787, 4184287893, 90891862, 3397569676, 2836007678, 2094186209, 2108372720, 2906594828,
    2579373701, 3367904435, 3044496290, 518744063, 3925428973, 2335922888, 1142808342, 3024343058,
    196478041, 1553711826, 3912022237,
)
# fmt: on
"""Drawn once, and part of every signature that was kept."""


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
    if len(hashes) <= _CHUNK and "numpy" not in sys.modules:
        return _least_of_few(hashes)
    return _least_of_many(hashes)


def _least_of_few(hashes: Sequence[int]) -> tuple[int, ...]:
    return tuple(
        min([(each * factor + offset) % _PRIME & _NOTHING for each in hashes])
        for factor, offset in zip(_FACTORS, _OFFSETS, strict=True)
    )


def _least_of_many(hashes: Sequence[int]) -> tuple[int, ...]:
    import numpy as np  # noqa: PLC0415 - see _CHUNK

    least = np.full(SIZE, _NOTHING, np.uint64)
    factors, offsets = np.array(_FACTORS, np.uint64), np.array(_OFFSETS, np.uint64)
    for start in range(0, len(hashes), _CHUNK):
        part = np.array(hashes[start : start + _CHUNK], np.uint64)[:, None]
        mixed = (part * factors + offsets) % np.uint64(_PRIME) & np.uint64(_NOTHING)
        least = np.minimum(least, mixed.min(axis=0))
    return tuple(least.tolist())


def alike(one: Sequence[int], other: Sequence[int]) -> float:
    """From 0 to 1; 0 where one of them is not known."""
    if len(one) != len(other) or not one:
        return 0.0
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
