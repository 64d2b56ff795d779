"""NVIDIA's DLLogger: `DLL 2021-10-18 01:08:53.4 - epoch   12 | iter  100/1000 | loss  3.5`."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats.base import MAX_COUNT, NUMBER, Sample, Sighting, counted, metric_name

_MAX_LENGTH = 2048
_HEAD = lazy_pattern(r"\bDLL \d{4}-\d{2}-\d{2} [\d:.]{8,20} - {1,4}")
_PIPED = lazy_pattern(
    r"(train )?epoch {1,8}(\d{1,9}) \|(?: iter {1,8}(\d{1,12})/(\d{1,12}) \|)?"
    r"|Iteration (\d{1,12}) \|"
)
_WORDED = lazy_pattern(
    r"(?:Training )?Epoch: (\d{1,9}) (?:(?:Training )?Iteration: (\d{1,12}) )?(?!Validation Iter)"
    r"|Iteration: (\d{1,12}) "
)
_TUPLE = lazy_pattern(r"\((\d{1,9}),(?: (\d{1,12}),?)?\) ")
_FIELD = lazy_pattern(
    rf" {{0,4}}([A-Za-z][\w/. ]{{0,40}}?)(?: :)? {{1,8}}({NUMBER})(?: [%\w/]{{1,12}})? {{0,4}}"
)
_COLON = lazy_pattern(rf"([A-Za-z][\w/.-]{{0,60}}) : ({NUMBER})(?=\s|$)")
_PARAMETER = lazy_pattern(r"PARAMETER {1,4}\|? {0,4}(\w{1,40}) : {1,4}(\d{1,12}) {0,4}$")
_TOTALS: dict[str, Unit] = {
    "epochs": "epoch",
    "num_epochs": "epoch",
    "max_epochs": "epoch",
    "max_steps": "step",
    "train_steps": "step",
}
_NO_METRICS = frozenset({"took"})


class DLLogger:
    name = "dllogger"
    hints = ("dll ",)

    def read(self, line: str) -> Sighting | None:
        head = _HEAD.match(line[:_MAX_LENGTH].lstrip())
        if head is None:
            return None
        text = line[:_MAX_LENGTH].strip()[head.end() :]
        return _piped(text) or _worded(text) or _announced(text)

    samples: ClassVar[tuple[Sample, ...]] = (
        # shapes of public results, other numbers
        Sample(
            "DLL 2021-10-18 01:08:53.454769 - epoch   12 | iter  100/1000 | loss   41.50 |"
            " utts/s   186 | took  2.75 s | lrate 3.50e-03",
            Sighting(
                unit="step",
                current=100,
                total=1000,
                series="iter",
                epoch=12,
                per_epoch=True,
                metrics={"loss": 41.5, "samples_per_s": 186.0, "lrate": 0.0035},
            ),
        ),
        Sample(
            "DLL 2021-10-18 01:08:53.454769 - epoch   12 | avg train utts/s  4390 | took 63.45 s",
            Sighting(
                unit="epoch",
                current=12,
                series="epoch",
                ordinal="ended",
                epoch=12,
                metrics={"samples_per_s": 4390.0},
            ),
        ),
        Sample(
            "DLL 2021-10-18 01:08:53.454769 - epoch    2 |   dev ema wer  99.28 | took  0.69 s",
            Sighting(epoch=2, metrics={"dev_ema_wer": 99.28}),
        ),
        Sample(
            "DLL 2024-05-11 05:57:23.372048 - Iteration 12 | train_acc : 0.5 % | iteration_time :"
            " 105.5 ms | train_loss : 0.75",
            Sighting(
                unit="step",
                current=12,
                series="iteration",
                metrics={"train_acc": 0.5, "iteration_time": 105.5, "train_loss": 0.75},
            ),
        ),
        Sample(
            "DLL 2024-05-11 05:57:28.104754 - train epoch 000 | train_acc : 0.5 % | train_time :"
            " 0:10:12  | total_train_steps : 4607",
            Sighting(
                unit="epoch",
                current=0,
                series="epoch",
                ordinal="ended",
                epoch=0,
                metrics={"train_acc": 0.5, "total_train_steps": 4607.0},
            ),
        ),
        Sample(
            "DLL 2021-10-18 01:08:53.466181 - PARAMETER | epochs :  70 ",
            Sighting(unit="epoch", total=70),
        ),
        # after the format strings of NVIDIA's examples
        Sample(
            "DLL 2020-05-28 12:00:00.000001 - Epoch: 3 Iteration: 100  train.loss : 6.5"
            " train.total_ips : 2500.0 images/s",
            Sighting(
                unit="step",
                current=100,
                series="iteration",
                epoch=3,
                per_epoch=True,
                metrics={"train.loss": 6.5, "samples_per_s": 2500.0},
            ),
        ),
        Sample(
            "DLL 2020-05-28 12:00:00.000001 - Training Epoch: 0 Training Iteration: 10"
            "  average_loss : 11.25 step_loss : 11.125  learning_rate : 0.0003 ",
            Sighting(
                unit="step",
                current=10,
                series="iteration",
                epoch=0,
                per_epoch=True,
                metrics={"average_loss": 11.25, "step_loss": 11.125, "learning_rate": 0.0003},
            ),
        ),
        Sample(
            "DLL 2020-05-28 12:00:00.000001 - Iteration: 3  throughput : 1250.5 ",
            Sighting(unit="step", current=3, series="iteration", metrics={"samples_per_s": 1250.5}),
        ),
        Sample(
            "DLL 2020-05-28 12:00:00.000001 - (2, 40) loss : 1.5 ",
            Sighting(
                unit="step",
                current=40,
                series="iteration",
                epoch=2,
                per_epoch=True,
                metrics={"loss": 1.5},
            ),
        ),
        Sample("DLL 2021-10-18 01:08:53.466181 - PARAMETER | seed :  3051 ", None),
        Sample("DLL 2021-10-18 01:08:53.466181 - epoch   12 | iter  1001/1000 | loss 1", None),
        Sample("a DLL was loaded", None),
        Sample("DLL 2021-10-18 01:08:53.4 - epoch 1 | " + "| a " * 20_000, None),
    )


def _piped(text: str) -> Sighting | None:
    found = _PIPED.match(text)
    if found is None:
        return None
    metrics = _fields(text[found.end() :])
    if found[5]:
        return Sighting(unit="step", current=float(found[5]), series="iteration", metrics=metrics)
    epoch = float(found[2])
    if found[3]:
        return _inside(epoch, counted(found[3], found[4]), metrics)
    if not (found[1] or "avg train" in text):
        return Sighting(epoch=epoch, metrics=metrics) if metrics else None
    return Sighting(
        unit="epoch", current=epoch, series="epoch", ordinal="ended", epoch=epoch, metrics=metrics
    )


def _inside(
    epoch: float, count: tuple[float, float] | None, metrics: dict[str, float]
) -> Sighting | None:
    return count and Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        series="iter",
        epoch=epoch,
        per_epoch=True,
        metrics=metrics,
    )


def _fields(text: str) -> dict[str, float]:
    """`name value unit | name value unit` by normalised names."""
    found = (_FIELD.fullmatch(field) for field in text.split("|")[:32])
    named = {metric_name(one[1]): float(one[2]) for one in found if one is not None}
    return _named(named)


def _worded(text: str) -> Sighting | None:
    """By default it prints bare tuples: (epoch, iteration)."""
    found = _WORDED.match(text) or _TUPLE.match(text)
    metrics = {} if found is None else _colons(text[found.end() :])
    if found is None or not metrics:
        return None
    alone = found.re.pattern == _WORDED.pattern and found[3]
    if not (found[2] or alone):
        return Sighting(epoch=float(found[1]), metrics=metrics)
    return Sighting(
        unit="step",
        current=float(alone or found[2]),
        series="iteration",
        epoch=None if alone else float(found[1]),
        per_epoch=not alone,
        metrics=metrics,
    )


def _colons(text: str) -> dict[str, float]:
    pairs = _COLON.findall(text)[:32]
    return _named({metric_name(name): float(value) for name, value in pairs})


def _named(metrics: dict[str, float]) -> dict[str, float]:
    return {_metric(name): value for name, value in metrics.items() if name not in _NO_METRICS}


def _metric(name: str) -> str:
    speed = name.endswith(("utts/s", "total_ips", "throughput"))
    return "samples_per_s" if speed and "val" not in name and "dev" not in name else name


def _announced(text: str) -> Sighting | None:
    found = _PARAMETER.match(text)
    unit = None if found is None else _TOTALS.get(found[1])
    if found is None or unit is None or not 0 < float(found[2]) < MAX_COUNT:
        return None
    return Sighting(unit=unit, total=float(found[2]))
