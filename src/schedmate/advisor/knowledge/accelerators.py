"""What accelerators can do at best, by the names that schedulers and drivers give them.

Peaks are those of the makers' data sheets, dense, per device as a scheduler counts it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Accelerator:
    """None: the maker does not say, or it does not compare (memory on the chip itself)."""

    name: str
    half_tflops: float | None
    """bf16 or fp16 on its matrix units, accumulated in fp32 where that makes a difference."""
    single_tflops: float | None
    """fp32, not tf32."""
    memory_gb: float | None
    bandwidth_gbs: float | None
    linked: bool
    """Devices of a node reach each other faster than over PCIe."""


_TABLE = """
k80               8.7    4.4   12   240 -
p40               -     11.8   24   346 -
p100              18.7   9.3   16   732 -
p100 sxm          21.2  10.6   16   732 linked
v100              112   14.0   16   900 -
v100 sxm          125   15.7   16   900 linked
v100 sxm 32gb     125   15.7   32   900 linked
v100 32gb         112   14.0   32   900 -
v100s             130   16.4   32  1134 -
t4                65     8.1   16   320 -
titan rtx         65    16.3   24   672 -
titan v           110   13.8   12   653 -
titan xp          -     12.1   12   548 -
gtx 1080 ti       -     11.3   11   484 -
quadro rtx 6000   130   16.3   24   672 -
quadro rtx 8000   130   16.3   48   672 -
rtx 2080 ti       54    13.4   11   616 -
rtx 3060          25.5  12.7   12   360 -
rtx 3070          40.6  20.3    8   448 -
rtx 3080          59.5  29.8   10   760 -
rtx 3080 ti       68.2  34.1   12   912 -
rtx 3090          71    35.6   24   936 -
rtx 4070          58.3  29.1   12   504 -
rtx 4080          97.5  48.7   16   717 -
rtx 4090          165   82.6   24  1008 -
rtx 5070 ti       87.9  43.9   16   896 -
rtx 5080          112.6 56.3   16   960 -
rtx 5090          209  104.8   32  1792 -
a10               125   31.2   24   600 -
a10g              70    31.5   24   600 -
a2                18     4.5   16   200 -
a30               165   10.3   24   933 -
a40               150   37.4   48   696 -
a4000             76.7  19.2   16   448 -
a4500             94.6  23.7   20   640 -
a5000             111   27.8   24   768 -
a6000             155   38.7   48   768 -
6000 ada          364   91.1   48   960 -
pro 6000          503.8 125    96  1792 -
pro 6000 server   500   120    96  1597 -
l4                121   30.3   24   300 -
l20               119.5 59.8   48   864 -
l40               181   90.5   48   864 -
l40s              362   91.6   48   864 -
a100              312   19.5   40  1555 linked
a100 80gb         312   19.5   80  2039 linked
a100 pcie         312   19.5   40  1555 -
a100 pcie 80gb    312   19.5   80  1935 -
a800              312   19.5   80  2039 linked
h100              989   67     80  3350 linked
h100 pcie         756   51     80  2039 -
h100 nvl          835   60     94  3938 linked
h800              989   67     80  3350 linked
h200              989   67    141  4800 linked
h200 nvl          835   60    141  4800 linked
gh200             989   67     96  4000 linked
h20               148   44     96  4000 linked
b100              1750  60    192  8000 linked
b200              2250  75    180  8000 linked
b300              2250  75    288  8000 linked
gb200             2500  80    186  8000 linked
gb300             2500  80    288  8000 linked
rx 7900 xtx       123   61.4   24   960 -
mi50              26.5  13.3   32  1024 linked
mi60              29.5  14.7   32  1024 linked
mi100             185   23.1   32  1229 linked
mi210             181   22.6   64  1638 linked
mi250             362   45.3  128  3277 linked
mi250x            383   47.9  128  3277 linked
mi300a            980.6 122.6 128  5300 linked
mi300x            1307 163.4  192  5300 linked
mi325x            1307 163.4  256  6000 linked
mi350x            2307  144.2 288  8000 linked
mi355x            2500 157.3  288  8000 linked
gaudi             -      -     32  1000 linked
gaudi 2           432    -     96  2450 linked
gaudi 3           1835   -    128  3700 linked
tpu v2            45     -     16   700 linked
tpu v3            123    -     32   900 linked
tpu v4            275    -     32  1228 linked
tpu v5e           197    -     16   819 linked
tpu v5p           459    -     95  2765 linked
tpu v6e           918    -     32  1640 linked
tpu v7            2307   -    192  7370 linked
trn1              190    -     32   820 linked
trn2              667    -     96  2900 linked
gc200             250  62.5     -     - linked
max 1550          832   52.4  128  3277 linked
"""
_WORD = re.compile(r"[a-z]{1,20}\d{0,6}[a-z]{0,6}|\d{1,6}[a-z]{0,6}")
_SERIES = re.compile(r"\b(rtx|gtx|rx|tpu|gaudi)(pro)?(?=\w)")
_LONGEST = 120


def _parsed(line: str) -> tuple[frozenset[str], Accelerator]:
    *name, half, single, memory, bandwidth, link = line.split()
    half_tflops, single_tflops, memory_gb, bandwidth_gbs = (
        None if each == "-" else float(each) for each in (half, single, memory, bandwidth)
    )
    known = Accelerator(
        " ".join(name), half_tflops, single_tflops, memory_gb, bandwidth_gbs, link == "linked"
    )
    return frozenset(name), known


_KNOWN = sorted(
    (_parsed(line) for line in _TABLE.strip().splitlines()), key=lambda each: -len(each[0])
)


@lru_cache(maxsize=1000)
def accelerator(name: str) -> Accelerator | None:
    """`NVIDIA A100-SXM4-80GB (400W)`, `gpu:a100_80gb` or `tpu-v4`; the closest entry counts."""
    words = _words(name)
    return next((known for required, known in _KNOWN if required <= words), None)


def _words(name: str) -> frozenset[str]:
    text = name[:_LONGEST].lower().replace("(r)", " ").replace("(tm)", " ")
    words = set(_WORD.findall(_SERIES.sub(r"\1 \2 ", text.replace("pci-e", "pcie"))))
    if any(word.startswith("sxm") for word in words):
        words.add("sxm")
    if {"geforce", "radeon"} & words or words & {"2080", "3080", "3090", "4080", "4090", "5090"}:
        words |= {"rtx", "rx"}
    return frozenset(words)
