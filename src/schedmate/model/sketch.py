"""A run as one small row of numbers: what search looks through and scaling learns from.

Loading a thousand runs as they are remembered takes longer than a prediction may. A sketch has
everything that finding and comparing them takes, in a fixed place; only those that are shown are
loaded whole.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from schedmate.model.history import Fingerprint, PastRun
from schedmate.model.job import Job, JobState, Request
from schedmate.model.workload import Workload

SKETCH_VERSION = 6
"""Raised whenever rows of another shape or meaning are written; old ones are then made anew."""

NUMBERS = (
    *("gpus", "nodes", "batch", "steps", "epochs", "sequence_length", "model_parameters"),
    *("d_model", "n_layer", "learning_rate"),
)
"""Natural logarithms; NaN where nothing is stated. `batch` is that of all devices in a step."""
_OF_THE_REQUEST = 2
"""So many of the numbers, the first, are stated by the request."""
WORDS = (
    *("model", "dataset", "entry_point", "task", "framework", "optimizer", "precision"),
    *("parallelism", "user", "name"),
)
"""Hashes of 32 bits; 0 where nothing is stated."""
_FIELDS = {"steps": "max_steps", "batch": "batch_size"}
GPU_NAME = 64
"""Bytes; the longest name that a driver is known to give has 55, and the chip may come last."""
ROW = struct.Struct(f"<q d 4f 2B {len(NUMBERS)}f {len(WORDS)}I 2q Q {GPU_NAME}s")
_BROKEN_OFF, _CANCELLED, _COMPLETED, _TIMED_OUT = range(4)
_ENDS = {
    JobState.COMPLETED: _COMPLETED,
    JobState.CANCELLED: _CANCELLED,
    JobState.TIMEOUT: _TIMED_OUT,
}
_SHAPE = 64
_CONFIGURATION_AT = struct.calcsize("<q d 4f B")
_NOT_ZERO = 1 << 40
_OTHER = 0x9E3779B9
_STEM = re.compile(r"\.(?:sh|py|slurm|sbatch)$|[\W_]{0,20}v?\d{1,20}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """What is known of a job before it runs. 0 for `code` and `arguments`: not known."""

    numbers: tuple[float, ...]
    words: tuple[int, ...]
    code: int = 0
    arguments: int = 0
    shape: int = 0
    """One bit of each number of the code's signature: code that is near differs in few."""
    gpu: str = ""
    open_ended: bool = False
    """It stops when something is reached, not after so many steps."""

    @property
    def states_workload(self) -> bool:
        """Whether anything is known beyond user, name and request."""
        numbers, words = self.numbers[_OF_THE_REQUEST:], self.words[: WORDS.index("user")]
        stated = any(not math.isnan(each) for each in numbers) or any(words)
        return stated or bool(self.code or self.open_ended)

    def number(self, name: str) -> float:
        return self.numbers[NUMBERS.index(name)]

    def word(self, name: str) -> int:
        return self.words[WORDS.index(name)]


def sketch_of(
    workload: Workload, *, user: str, name: str, request: Request, fingerprint: Fingerprint | None
) -> Sketch:
    gpus = gpus_used(workload, request, fingerprint)
    stated = {each: _value(workload, _FIELDS.get(each, each)) for each in NUMBERS}
    stated |= {"gpus": gpus, "nodes": stated["nodes"] or request.nodes}
    stated |= {"batch": _global_batch(workload, gpus)}
    words = {each: _value(workload, each) for each in WORDS if each not in ("user", "name")}
    words |= {"user": user, "name": stem(name)}
    return Sketch(
        numbers=tuple(_logarithm(stated[each]) for each in NUMBERS),
        words=tuple(word_hash(words[each]) for each in WORDS),
        code=_code_hash(fingerprint.code) if fingerprint else 0,
        arguments=_code_hash(fingerprint.arguments) if fingerprint else 0,
        shape=_bits(fingerprint.signature) if fingerprint else 0,
        gpu=(request.gpu_type or "").lower(),
        open_ended=bool(_value(workload, "early_stopping")),
    )


def gpus_used(workload: Workload, request: Request, fingerprint: Fingerprint | None) -> int:
    """As many as it requests; one, where its code would not use more."""
    requested = _value(workload, "gpus") or request.gpus
    return min(requested, 1) if fingerprint and fingerprint.one_gpu else int(requested)


def sketch_of_run(run: PastRun) -> Sketch:
    job = run.job
    return sketch_of(
        run.workload,
        user=job.user,
        name=job.name,
        request=job.request,
        fingerprint=run.fingerprint,
    )


def packed(number: int, run: PastRun, sketch: Sketch) -> bytes:
    """The row of a run that ended; `number` is what its history knows it by."""
    return ROW.pack(
        number,
        _ended(run.job),
        run.duration_s,
        math.nan if run.startup_s is None else run.startup_s,
        math.nan if run.gpu_memory_mb is None else run.gpu_memory_mb,
        math.nan if run.gpu_utilization is None else run.gpu_utilization,
        _ENDS.get(run.job.state, _BROKEN_OFF),
        sketch.open_ended,
        *sketch.numbers,
        *sketch.words,
        sketch.code,
        sketch.arguments,
        sketch.shape,
        sketch.gpu.encode(errors="replace")[:GPU_NAME],
    )


def configuration(row: bytes) -> int:
    """Of a packed row: runs that nothing tells apart have the same."""
    return _mixed(0, row[_CONFIGURATION_AT:])


def blocks(sketch: Sketch, config: int) -> tuple[int, ...]:
    """Keys that likely candidates share with it, from the particular to the common."""
    user, name, model, dataset, entry = (
        sketch.word(each) for each in ("user", "name", "model", "dataset", "entry_point")
    )
    keys = [(config,), (sketch.code,), (user, name), (user, model), (model, dataset), (model,)]
    size = _size(sketch)
    keys += [(dataset, entry), (dataset,), (user, entry), _habits(sketch)]
    keys += [(user, name, size), (model, dataset, size)]
    return tuple(
        _mixed(kind, struct.pack(f"<{len(key)}q", *key))
        for kind, key in enumerate(keys, start=1)
        if key and all(key)
    )


def _size(sketch: Sketch) -> int:
    """Everything that a step's time depends on: of a job that is changed often, its equals."""
    named = zip(NUMBERS, sketch.numbers, strict=True)
    numbers = [each for name, each in named if name not in ("steps", "epochs")]
    return _mixed(0, struct.pack(f"<{len(numbers)}f", *numbers))


def _habits(sketch: Sketch) -> tuple[int, ...]:
    """Settings that stay when a job is renamed; one alone is too common to find anything by."""
    numbers = [sketch.number(each) for each in ("learning_rate", "steps", "epochs")]
    present = [int(each * 1e4) + _NOT_ZERO for each in numbers if not math.isnan(each)]
    present += [sketch.word("optimizer")] if sketch.word("optimizer") else []
    return tuple(present) if len(present) > 1 else ()


def _mixed(kind: int, data: bytes) -> int:
    """63 bits of a hash that need not withstand anybody, only be quick."""
    first = zlib.crc32(data, kind)
    return (first << 31 | zlib.crc32(data, first ^ _OTHER) >> 1) or 1


def _bits(signature: tuple[int, ...]) -> int:
    return sum((number & 1) << place for place, number in enumerate(signature[:_SHAPE]))


def _code_hash(text: str) -> int:
    """63 bits, so that SQLite and numpy both hold it, and never 0."""
    digest = blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 1) or 1


def stem(name: str) -> str:
    """`train-12`, `train_v3.sh` and `train` are one name."""
    return _STEM.sub("", name.lower())


def _ended(job: Job) -> float:
    return job.end_time or job.submit_time


def _value(workload: Workload, field: str) -> Any:
    finding = getattr(workload, field)
    return None if finding is None else finding.value


def _global_batch(workload: Workload, gpus: int) -> float | None:
    each = _value(workload, "batch_size")
    if not each or each <= 0:
        return None
    return float(each * (_value(workload, "gradient_accumulation") or 1) * max(1, gpus or 1))


def _logarithm(value: float | None) -> float:
    return math.log(value) if value and 0 < value < math.inf else math.nan


def word_hash(word: str | None) -> int:
    """0 for nothing. A model of somebody's hub is the same as its copy on disk."""
    if not word:
        return 0
    return zlib.crc32(word.rstrip("/").rpartition("/")[2].lower().encode(errors="replace")) or 1
