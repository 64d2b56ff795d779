"""Megatron-LM and its relatives: ` iteration  120/ 50000 | ... | lm loss: 6.4E+00 |`."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Checkpoint, EndsBy
from schedmate.tracker.formats.base import (
    MAX_COUNT,
    NUMBER,
    Sample,
    Sighting,
    counted,
    metric_name,
    rate_of,
)

_MAX_LENGTH = 2048
_ITERATION = lazy_pattern(r"(?:^|[\s\]])iteration\s{1,16}(\d{1,12})/\s{0,16}(\d{1,12}) \|")
_NUMBER = lazy_pattern(NUMBER)
_STEP_TIMES = {"elapsed_time_per_iteration_(ms)": 0.001, "elapsed_time_per_iteration_(s)": 1.0}
_NAMES = {
    "samples_per_second": "samples_per_s",
    "tokens_per_second": "tokens_per_s",
    "throughput_per_gpu_(tflop/s/gpu)": "tflops_per_gpu",
    "tflops": "tflops_per_gpu",
    "lm-loss": "lm_loss",
}
_NO_METRICS = frozenset(_STEP_TIMES) | {"consumed_samples", "consumed_tokens"}
_SAVE = lazy_pattern(
    r"(successfully saved|saving) checkpoint (?:at|from) iteration\s{1,16}(\d{1,12}) to (\S{1,400})"
)
_VALIDATED = lazy_pattern(r"\bvalidation loss at [^|]{0,60}\|")
_SETTING = lazy_pattern(
    r"(?:setting training iterations to|(train_iters|exit_duration_in_mins) \.{2,80}) (\d{1,12})"
)
_EXIT = lazy_pattern(r"\[?exiting program (after|at)\b ?(?:[\d.]{1,20} )?(\w{1,20})")


class Megatron:
    name = "megatron"
    hints = (
        "iteration ",
        "validation loss at ",
        "train_iters ..",
        "exit_duration_in_mins ..",
        "training iterations to",
        "exiting program",
        "after training is done",
    )

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if " | " in text:
            return _iteration(text) or _validated(text)
        return _saved(text) or _setting(text) or _end(text)

    samples: ClassVar[tuple[Sample, ...]] = (
        # shapes of public Slurm outputs, other numbers
        Sample(
            " iteration        2/    1000 | elapsed time per iteration (ms): 12500.0 |"
            " learning rate: 3.750E-05 | lm loss: 1.281000E+01 | loss scale: 1024.0 |"
            " number of skipped iterations:   0 | number of nan iterations:   0 |",
            Sighting(
                unit="step",
                current=2,
                total=1000,
                series="iteration",
                rate_per_s=1 / 12.5,
                metrics={
                    "learning_rate": 3.75e-05,
                    "lm_loss": 12.81,
                    "loss_scale": 1024.0,
                    "number_of_skipped_iterations": 0.0,
                    "number_of_nan_iterations": 0.0,
                },
            ),
        ),
        Sample(
            " iteration       10/    1000 | consumed samples:        10240 | elapsed time per"
            " iteration (ms): 2000.0 | learning rate: 1.500E-04 | global batch size:  1024 |"
            " lm-loss: 1.9E+01 | loss scale: -1.0 | grad norm: nan | num zeros: 0.0 |",
            Sighting(
                unit="step",
                current=10,
                total=1000,
                series="iteration",
                rate_per_s=0.5,
                metrics={
                    "learning_rate": 1.5e-04,
                    "global_batch_size": 1024.0,
                    "lm_loss": 19.0,
                    "loss_scale": -1.0,
                    "grad_norm": float("nan"),
                    "num_zeros": 0.0,
                },
            ),
        ),
        # after the log string of the newer releases
        Sample(
            " [2024-01-01 12:00:00.123456] iteration      120/   50000 | consumed samples:"
            "        61440 | elapsed time per iteration (ms): 4000.0 | throughput per GPU"
            " (TFLOP/s/GPU): 401.5 | learning rate: 1.500000E-04 | global batch size:   512 |"
            " lm loss: 6.4E+00 | loss scale: 1.0 | grad norm: 1.234 |",
            Sighting(
                unit="step",
                current=120,
                total=50000,
                series="iteration",
                rate_per_s=0.25,
                metrics={
                    "tflops_per_gpu": 401.5,
                    "learning_rate": 1.5e-04,
                    "global_batch_size": 512.0,
                    "lm_loss": 6.4,
                    "loss_scale": 1.0,
                    "grad_norm": 1.234,
                },
            ),
        ),
        # after the log string of Megatron-DeepSpeed
        Sample(
            " iteration     7/  95367 | consumed samples: 448 | consumed tokens: 917504 | elapsed"
            " time per iteration (s): 2.0 | samples per second: 32.5 | TFLOPs: 150.25 |",
            Sighting(
                unit="step",
                current=7,
                total=95367,
                series="iteration",
                rate_per_s=0.5,
                metrics={"samples_per_s": 32.5, "tflops_per_gpu": 150.25},
            ),
        ),
        Sample(
            " validation loss at iteration 100 | lm loss value: 8.0E+00 | lm loss PPL: 3.0E+03 | ",
            Sighting(metrics={"validation_lm_loss_value": 8.0, "validation_lm_loss_ppl": 3000.0}),
        ),
        Sample(
            "saving checkpoint at iteration    1000 to /scratch/run in torch_dist format",
            Sighting(checkpoint=Checkpoint(path="/scratch/run", step=1000), phase="checkpointing"),
        ),
        Sample(
            "  successfully saved checkpoint from iteration    1000 to /scratch/run [ t 1/2 ]",
            Sighting(checkpoint=Checkpoint(path="/scratch/run", step=1000)),
        ),
        Sample(
            "  train_iters ..................................... 500000",
            Sighting(unit="step", total=500000),
        ),
        Sample("setting training iterations to 95367", Sighting(unit="step", total=95367)),
        Sample("  exit_duration_in_mins ........................... 1190", Sighting(cap_s=71_400)),
        Sample(
            "[exiting program after 1190.12 minutes] datetime: 2024-01-01 12:00:00 ",
            Sighting(phase="finished", ended_by="cap"),
        ),
        Sample(
            "[exiting program at iteration 500] datetime: 2024-01-01 12:00:00 ",
            Sighting(phase="finished", ended_by="total"),
        ),
        Sample(
            "[exiting program after receiving SIGTERM.] datetime: 2024-01-01 12:00:00 ",
            Sighting(phase="finished", ended_by="limit"),
        ),
        Sample(
            "[after training is done] datetime: 2024-01-01 12:00:00 ", Sighting(phase="finished")
        ),
        Sample(" iteration 1001/ 1000 | lm loss: 1.0 |", None),
        Sample(" iteration 3/ 10 | lm loss: 1.0 |", None),
        Sample("setting training data start iteration to 0", None),
        Sample("  exit_duration_in_mins ........................... None", None),
        Sample("exiting program after printing the error", None),
        Sample("iteration " * 10_000, None),
        Sample(" iteration 1/ 10 " + "|" * 60_000, None),
    )


def _iteration(text: str) -> Sighting | None:
    found = _ITERATION.search(text)
    count = None if found is None else counted(found[1], found[2])
    if found is None or count is None:
        return None
    fields = _fields(text[found.end() :])
    times = [fields[name] * scale for name, scale in _STEP_TIMES.items() if name in fields]
    if not times:
        return None
    return Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        series="iteration",
        rate_per_s=rate_of(times[0]),
        metrics={
            _NAMES.get(name, name): value
            for name, value in fields.items()
            if name not in _NO_METRICS
        },
    )


def _fields(text: str) -> dict[str, float]:
    """`name: value | name: value |` by normalised names."""
    pairs = (field.partition(":") for field in text.split("|")[:40])
    return {
        metric_name(name): float(value)
        for name, _, value in pairs
        if _NUMBER.fullmatch(value.strip())
    }


def _saved(text: str) -> Sighting | None:
    found = _SAVE.search(text)
    if found is None:
        return None
    return Sighting(
        checkpoint=Checkpoint(path=found[3], step=int(found[2])),
        phase="checkpointing" if found[1] == "saving" else None,
    )


def _validated(text: str) -> Sighting | None:
    found = _VALIDATED.search(text)
    fields = {} if found is None else _fields(text[found.end() :])
    if not fields:
        return None
    return Sighting(metrics={f"validation_{name}": value for name, value in fields.items()})


def _setting(text: str) -> Sighting | None:
    found = _SETTING.match(text.strip())
    number = 0.0 if found is None else float(found[2])
    if found is None or not 0 < number < MAX_COUNT:
        return None
    if found[1] == "exit_duration_in_mins":
        return Sighting(cap_s=number * 60)
    return Sighting(unit="step", total=number)


def _end(text: str) -> Sighting | None:
    if "[after training is done]" in text:
        return Sighting(phase="finished")
    found = _EXIT.match(text.strip())
    reason = None if found is None else _REASONS.get((found[1], found[2]))
    return None if reason is None else Sighting(phase="finished", ended_by=reason)


_REASONS: dict[tuple[str, str], EndsBy] = {
    ("after", "minutes"): "cap",
    ("at", "iteration"): "total",
    ("after", "receiving"): "limit",
}
