"""Past runs as numpy columns, with what is known of the hardware they ran on."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedmate.advisor.knowledge.accelerators import accelerator
from schedmate.model.sketch import GPU_NAME, NUMBERS, ROW, WORDS, Sketch, configuration

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
_RAW = np.dtype((np.void, _KIND.itemsize))
BROKEN_OFF, CANCELLED, COMPLETED = range(3)
_TFLOPS_PER_GBS = 0.16
"""As most accelerators are built; stands in where a maker tells only one of the two."""
_YEAR_S = 365.25 * 86400


def rows_of(packed: bytes) -> Rows:
    """As `model.sketch.packed` wrote them, one after the other."""
    if len(packed) % ROW.size:
        raise ValueError(f"{len(packed)} bytes are no rows of {ROW.size}")
    return np.frombuffer(packed, _KIND)


TRAITS = (*WORDS, "code", "gpu")


@dataclass(frozen=True, slots=True)
class Columns:
    """Runs side by side."""

    rows: Rows
    quantities: Floats
    """NaN where nothing is stated."""
    traits: Places
    """Hashes of the `TRAITS`; 0 where one is not known."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def gpus(self) -> Places:
        return self.traits[:, -1]

    def take(self, which: Any) -> Columns:
        return Columns(
            self.rows.view(_RAW)[which].view(_KIND),  # numpy copies records field by field
            self.quantities[which],
            self.traits[which],
        )

    def group(self) -> Places:
        """The number of each one's configuration: nothing tells the runs of one apart."""
        packed, size = self.rows.tobytes(), ROW.size
        which = [configuration(packed[at : at + size]) for at in range(0, len(packed), size)]
        return np.unique(which, return_inverse=True)[1]


def columns_of(rows: Rows) -> Columns:
    hardware, gpus = np.empty((len(rows), 3)), np.zeros((len(rows), 1), np.int64)
    names = rows["gpu"].tolist()
    for name in set(names):
        which = [each == name for each in names] if len(set(names)) > 1 else slice(None)
        text = name.decode(errors="replace")
        hardware[which], gpus[which] = _hardware(text), _model(text)
    years = (rows["end"] / _YEAR_S)[:, None]
    quantities = np.hstack([rows["numbers"].astype(float), hardware, years])
    traits = np.hstack([rows["words"].astype(np.int64), rows["code"][:, None], gpus])
    return Columns(rows, quantities, traits)


def query_of(sketch: Sketch, at: float) -> Columns:
    """One row: a job that is submitted at this time."""
    known = _of_sketch(sketch)
    query = Columns(known.rows.copy(), known.quantities.copy(), known.traits.copy())
    query.rows["end"], query.quantities[0, -1] = at, at / _YEAR_S
    return query


@lru_cache(maxsize=256)  # 2 kB each
def _of_sketch(sketch: Sketch) -> Columns:
    row = np.zeros(1, _KIND)
    row["numbers"], row["words"] = sketch.numbers, sketch.words
    row["code"], row["arguments"], row["shape"] = sketch.code, sketch.arguments, sketch.shape
    row["open_ended"] = sketch.open_ended
    row["gpu"] = sketch.gpu.encode(errors="replace")[:GPU_NAME]
    return columns_of(row)


def _model(name: str) -> int:
    """Boards of one chip differ in what they can do, not by this."""
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
