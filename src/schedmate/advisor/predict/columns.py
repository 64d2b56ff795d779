"""Sketches of runs as numpy columns, with what is known of the hardware they ran on."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedmate.advisor.knowledge.accelerators import accelerator
from schedmate.model.sketch import GPU_NAME, NUMBERS, ROW, WORDS, Sketch

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[Any]
Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]

QUANTITIES = (*NUMBERS, "flops", "bandwidth", "unlinked", "year")
"""What durations are scaled by. Logarithms but for `unlinked` (0 or 1) and `year`."""
PLACE = {name: place for place, name in enumerate(QUANTITIES)}
_KIND = np.dtype(
    [
        ("run", "<i8"),
        ("end", "<f8"),
        ("duration", "<f4"),
        ("startup", "<f4"),
        ("memory", "<f4"),
        ("utilization", "<f4"),
        ("ending", "u1"),
        ("open_ended", "u1"),
        ("numbers", "<f4", (len(NUMBERS),)),
        ("words", "<u4", (len(WORDS),)),
        ("code", "<i8"),
        ("arguments", "<i8"),
        ("shape", "<u8"),
        ("gpu", f"S{GPU_NAME}"),
    ]
)
CANCELLED, COMPLETED = 1, 2
_TFLOPS_PER_GBS = 0.16
"""As most accelerators are built; stands in where a maker tells only one of the two."""
_YEAR_S = 365.25 * 86400


def rows_of(packed: bytes) -> Rows:
    """As `model.sketch.packed` wrote them, one after the other."""
    if len(packed) % ROW.size:
        raise ValueError(f"{len(packed)} bytes are no rows of {ROW.size}")
    return np.frombuffer(packed, _KIND)


@dataclass(frozen=True, slots=True)
class Columns:
    """Runs, or configurations of runs, side by side."""

    rows: Rows
    quantities: Floats
    """NaN where nothing is stated."""
    gpus: NDArray[np.uint32]
    """Which accelerator each ran on, as a hash; 0 where that is not known."""

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, which: Any) -> Columns:
        return Columns(self.rows[which], self.quantities[which], self.gpus[which])


def columns_of(rows: Rows) -> Columns:
    hardware, gpus = np.empty((len(rows), 3)), np.zeros(len(rows), np.uint32)
    names, which = np.unique(rows["gpu"], return_inverse=True)
    for place, name in enumerate(names):
        text = name.decode(errors="replace")
        hardware[which == place], gpus[which == place] = _hardware(text), _model(text)
    years = (rows["end"] / _YEAR_S)[:, None]
    return Columns(rows, np.hstack([rows["numbers"].astype(float), hardware, years]), gpus)


def query_of(sketch: Sketch, at: float) -> Columns:
    """One row: a job that is submitted at this time."""
    row = np.zeros(1, _KIND)
    row["numbers"], row["words"], row["end"] = sketch.numbers, sketch.words, at
    row["code"], row["arguments"], row["shape"] = sketch.code, sketch.arguments, sketch.shape
    row["gpu"] = sketch.gpu.encode(errors="replace")[:GPU_NAME]
    return columns_of(row)


def _model(name: str) -> int:
    """Boards of one chip are told apart by what they can do, not by this."""
    known = accelerator(name)
    return zlib.crc32((known.name.split(" pcie")[0] if known else name).encode()) if name else 0


def _hardware(name: str) -> tuple[float, float, float]:
    known = accelerator(name) if name else None
    if known is None:
        return math.nan, math.nan, math.nan
    flops, bandwidth = known.half_tflops, known.bandwidth_gbs
    return (
        math.log(flops or _TFLOPS_PER_GBS * (bandwidth or 1.0)),
        math.log(bandwidth or (flops or 1.0) / _TFLOPS_PER_GBS),
        0.0 if known.linked else 1.0,
    )
