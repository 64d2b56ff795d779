"""What accelerators can do at best, by the names that schedulers and drivers give them.

Peaks are dense, per device as a scheduler counts it. A line with a # states where the figures below
it were looked up, and which of them. A site may name its own (`name_gpus`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from schedmate.model import BadInput


@dataclass(frozen=True, slots=True)
class Accelerator:
    """None: the maker does not state it, or it does not compare (memory on the chip itself)."""

    name: str
    half_tflops: float | None
    """bf16 or fp16 on its matrix units, accumulated in fp32 where that makes a difference."""
    single_tflops: float | None
    """fp32, not tf32."""
    memory_gb: float | None
    bandwidth_gbs: float | None
    linked: bool
    """Devices of a node reach each other faster than over PCIe."""
    source: str = ""
    """Where its figures were looked up, and which."""


_TABLE = """
# spec databases (single, memory, bandwidth)
p40               -     11.8   24   346 -
gtx 1080 ti       -     11.3   11   484 -
quadro rtx 6000   130   16.3   24   672 -
rtx 3060          25.5  12.7   12   360 -
rtx 4070          58.3  29.1   12   504 -
a4500             94.6  23.7   20   640 -
# Lightning's throughput table, after NVIDIA's data sheets (TFLOP/s)
v100              112   14.0   16   900 -
v100 sxm          125   15.7   16   900 linked
v100s             130   16.4   32  1134 -
t4                65     8.1   16   320 -
a100              312   19.5   40  1555 linked
h100              989   67     80  3350 linked
h100 pcie         756   51     80  2039 -
# AnandTech's review of the TITAN V (single, memory, bandwidth)
titan v           110   13.8   12   653 -
titan xp          -     12.1   12   547 -
# a page on the GB203 chip: bandwidth, and fp16 as a 16th of 1801 sparse fp4 TOPS
rtx 5080          112.6 56.3   16   960 -
# hmc-tech's comparison pages
a2                18     4.5   16   200 -
# a reseller's copy of the data sheet
a40               150   37.4   48   696 -
a4000             76.7  19.2   16   448 -
# reports of the announcement: bandwidth, single, and fp16 as an 8th of 4000 sparse fp4 TOPS
pro 6000          500   125    96  1792 -
# spec databases (single, bandwidth); half is twice single, as on the L40
l20               118.7 59.4   48   864 -
# ml-engineering's accelerator tables, memory and bandwidth
h200              989   67    141  4800 linked
gh200             989   67     96  4000 linked
mi250             362   45.3  128  3277 linked
mi250x            383   47.9  128  3277 linked
gaudi 2           432    -     96  2450 linked
# Glenn Lockwood's page on B200 (half, bandwidth)
b200              2250  75    180  8000 linked
gb200             2500  80    186  8000 linked
# Hugging Face's hardware pages (TFLOP/s, memory)
mi50              26.5  13.3   32  1024 linked
mi60              29.5  14.7   32  1024 linked
# reports of the launch: units and memory; TFLOP/s follow from the MI300X by units
mi300a            980.6 122.6 128  5300 linked
# reports of Hot Chips 2025: clock and memory; TFLOP/s follow from the MI355X by clock
mi350x            2307  144.2 288  8000 linked
# Lightning's throughput table, after Google's documentation (TFLOP/s)
tpu v2            45     -     16   700 linked
tpu v3            123    -     32   900 linked
tpu v4            275    -     32  1228 linked
tpu v5e           197    -     16   819 linked
# Google Cloud documentation of TPU7x (TFLOP/s, memory)
tpu v5p           459    -     95  2765 linked
tpu v6e           918    -     32  1640 linked
tpu v7            2307   -    192  7370 linked
# Glenn Lockwood's page on Max 1550: memory, bandwidth; single from units and clock
max 1550          832   52.4  128  3277 linked
# Lightning's throughput table (TFLOP/s; half is a quarter of int8), reports (memory, bandwidth)
rtx 3080          59.5  29.8   10   760 -
rtx 3090          71    35.6   24   936 -
# Lightning's throughput table (TFLOP/s; half is half of int8), spec databases (memory, bandwidth)
a6000             155   38.7   48   768 -
# Lightning's throughput table, after NVIDIA's white papers (TFLOP/s)
v100 sxm 32gb     125   15.7   32   900 linked
v100 32gb         112   14.0   32   900 -
rtx 3070          40.6  20.3    8   448 -
rtx 3080 ti       68.2  34.1   12   912 -
rtx 4080          97.5  48.7   16   717 -
rtx 4090          165   82.6   24  1008 -
l4                121   30.3   24   300 -
h100 nvl          835   60     94  3938 linked
# Tom's Hardware's review of the Titan RTX (half); a review (bandwidth)
titan rtx         130   16.3   24   672 -
rtx 2080 ti       54    13.4   11   616 -
# spec databases (memory, bandwidth; of single they state 4.1)
k80               8.7    4.4   12   240 -
# spec databases, and reports of the announcement of the P100 for PCIe
p100              18.7   9.3   16   732 -
p100 sxm          21.2  10.6   16   732 linked
# spec databases (single, memory)
quadro rtx 8000   130   16.3   48   672 -
# spec databases (single, memory, bandwidth)
a10               125   31.2   24   600 -
# Linux Format's review, and half as a quarter of 838 sparse
rtx 5090          209  104.8   32  1792 -
# reports of CES 2025: memory, bandwidth; single from units and clock, half is twice single
rtx 5070 ti       87.9  43.9   16   896 -
# Baseten's comparison of A10 and A10G (memory, bandwidth)
a10g              70    31.5   24   600 -
# LLMRoofline's table of hardware (half, bandwidth)
a30               165   10.3   24   933 -
l40               181   90.5   48   864 -
h800              989   67     80  3350 linked
h20               148   44     96  4000 linked
# Thunder Compute's guide to the A100 (memory, bandwidth), ml-engineering's tables (TFLOP/s)
a100 80gb         312   19.5   80  2039 linked
a100 pcie         312   19.5   40  1555 -
a100 pcie 80gb    312   19.5   80  1935 -
# Morph's page on the H200: half of the NVL is 1671 sparse
h200 nvl          835   60    141  4800 linked
# ml-engineering's accelerator tables
l40s              362   91.6   48   864 -
b300              2250  80    288  8000 linked
mi300x            1307 163.4  192  5300 linked
mi325x            1307 163.4  256  6000 linked
mi355x            2517 157.3  288  8000 linked
gaudi 3           1677   -    128  3700 linked
# ml-engineering's accelerator tables (TFLOP/s; of the B100 in an earlier edition)
b100              1750  60    192  8000 linked
gb300             2500  80    288  8000 linked
# Hugging Face's hardware table (TFLOP/s, memory)
6000 ada          364   91.1   48   960 -
rx 7900 xtx       123   61.4   24   960 -
mi100             185   23.1   32  1229 linked
mi210             181   22.6   64  1638 linked
# AWS Neuron's architecture guides
trn1              190   47.5   32   820 linked
trn2              667  181     96  2900 linked
# reports of the launch (half)
gc200             250  62.5     -     - linked
# not checked against a document
a5000             111   27.8   24   768 -
a800              312   19.5   80  2039 linked
gaudi             -      -     32  1000 linked
"""
_WORD = re.compile(r"[a-z]{1,20}\d{0,6}[a-z]{0,6}|\d{1,6}[a-z]{0,6}")
_SERIES = re.compile(r"\b(rtx|gtx|rx|tpu|gaudi)(pro)?(?=\w)")
_LONGEST = 120


def _figure(text: str) -> float | None:
    return None if text == "-" else float(text)


def _read(table: str) -> list[tuple[frozenset[str], Accelerator]]:
    """The entries with the most words first: they are the most particular."""
    source, known = "", []
    for line in table.strip().splitlines():
        if line.startswith("#"):
            source = line.removeprefix("# ")
            continue
        *name, half, single, memory, bandwidth, link = line.split()
        entry = Accelerator(
            " ".join(name),
            _figure(half),
            _figure(single),
            _figure(memory),
            _figure(bandwidth),
            link == "linked",
            source,
        )
        known.append((frozenset(name), entry))
    return sorted(known, key=lambda each: -len(each[0]))


_KNOWN = _read(_TABLE)
_named: dict[str, Accelerator] = {}
"""By the site's own names."""


@dataclass(frozen=True, slots=True)
class GpuFigures:
    """What a site states of a GPU that no table has."""

    tflops: float
    bandwidth_gbs: float | None = None
    linked: bool = False


def name_gpus(names: Mapping[str, str | GpuFigures]) -> None:
    """Let a site's own names (`fast`, `gpu:a100-sxm`) mean these, instead of any set before.

    To be called before anything is predicted.
    """
    named = {_plain(name): _meant(name, meant) for name, meant in names.items()}
    _named.clear()
    _named.update(named)
    accelerator.cache_clear()


def _meant(name: str, meant: str | GpuFigures) -> Accelerator:
    if isinstance(meant, GpuFigures):
        bandwidth, linked = meant.bandwidth_gbs, meant.linked
        return Accelerator(name, meant.tflops, None, None, bandwidth, linked, "the site's settings")
    known = _in_table(meant)
    if known is None:
        raise BadInput(
            f"setting gpus.{name}: {meant!r} is no accelerator that is known; state its figures "
            "instead, as { tflops = 312, bandwidth_gbs = 2039 }"
        )
    return replace(known, source=f"{known.source}, by the site's settings")


def _plain(name: str) -> str:
    """`a100-sxm` of `gres/gpu:A100-SXM`."""
    return name.strip().lower().removeprefix("gres/").removeprefix("gpu:")


@lru_cache(maxsize=1000)
def accelerator(name: str) -> Accelerator | None:
    """`NVIDIA A100-SXM4-80GB (400W)`, `gpu:a100_80gb` or `tpu-v4`; the closest entry counts.

    A name that the site has given comes first.
    """
    return _named.get(_plain(name)) or _in_table(name)


def _in_table(name: str) -> Accelerator | None:
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
