"""nanoGPT and what grew out of it: modded-nanogpt, llm.c, nanochat."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import (
    NUMBER,
    Sample,
    Sighting,
    counted,
    metrics_in,
    rate_of,
)
from schedmate.tracker.formats.quantities import DURATION, count_of, seconds_of

_MAX_LENGTH = 1024
_ITER = lazy_pattern(
    rf"iter (\d{{1,12}}): loss ({NUMBER}), time (\d{{1,12}}(?:\.\d{{1,6}})?)ms"
    rf"(?:, mfu ({NUMBER})%)?"
)
_EVALUATED = lazy_pattern(rf"step (\d{{1,12}}): train loss ({NUMBER}), val loss ({NUMBER})")
_MODDED = lazy_pattern(
    r"step:(\d{1,12})/(\d{1,12}) ((?:[a-z_]{1,30}:[\w.+-]{1,30} ){0,12})"
    r"train_time:(\d{1,15}(?:\.\d{1,6})?)(ms|s)(?: step_avg:(\d{1,9}(?:\.\d{1,6})?)ms)?"
)
_LLMC = lazy_pattern(
    rf"step {{1,8}}(\d{{1,12}})/(\d{{1,12}}) ?[|:] (?:train )?loss ({NUMBER})(.{{0,120}}?)"
    r"[|(] {0,4}(\d{1,12}(?:\.\d{1,6})?) ms\b.{0,40}?(\d{1,15}) tok/s"
)
_OF_LLMC = lazy_pattern(rf"\b(norm|lr) ({NUMBER})")
_NANOCHAT = lazy_pattern(
    r"step (\d{1,12})(?:/(\d{1,12}))? \((\d{1,3}(?:\.\d{1,4})?)%\) \| loss: .{1,400}\| lrm: "
)
_DT = lazy_pattern(r"\| dt: (\d{1,12}(?:\.\d{1,6})?)ms")
_TOKENS = lazy_pattern(r"\| tok/s(?:ec)?: ([\d,]{1,20})(?= |$)")
_TIME = lazy_pattern(rf"\| (total time|elapsed|eta|remaining): ({DURATION})")
_PLANNED = lazy_pattern(
    r"(?:Calculated|Using user-provided) number of iterations\b[^\d]{0,60}: ([\d,]{1,20})$"
)
_ALL = 100.0


class NanoGpt:
    name = "nanogpt"
    hints = ("iter ", "step:", "step ", "number of iterations")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if text.startswith("iter "):
            return _iteration(text)
        if text.startswith("step:"):
            return _modded(text)
        if text.startswith("step "):
            return _evaluated(text) or _llmc(text) or _nanochat(text)
        planned = _PLANNED.search(text) if "number of iterations" in text else None
        total = count_of(planned[1]) if planned else None
        return Sighting(unit="step", total=total) if total else None

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "iter 250: loss 2.4123, time 125.00ms, mfu 12.34%",
            Sighting(
                unit="step",
                current=250,
                series="iter",
                rate_per_s=8,
                metrics={"loss": 2.4123, "mfu": 12.34},
            ),
        ),
        Sample(
            "step 250: train loss 2.4012, val loss 2.5034",
            Sighting(
                unit="step",
                current=250,
                series="iter",
                metrics={"train_loss": 2.4012, "val_loss": 2.5034},
            ),
        ),
        Sample(
            "step:2035/2035 val_loss:3.2792 train_time:123933ms step_avg:62.50ms",
            Sighting(
                unit="step",
                current=2035,
                total=2035,
                series="step",
                elapsed_s=123.933,
                rate_per_s=16,
                metrics={"val_loss": 3.2792},
            ),
        ),
        Sample(
            "step:0/9536 val_loss:11.0248 train_time:264ms step_avg:nanms",
            Sighting(
                unit="step",
                current=0,
                total=9536,
                series="step",
                elapsed_s=0.264,
                metrics={"val_loss": 11.0248},
            ),
        ),
        Sample(
            "step    1/19560 | loss 11.0021 (+nanz)| norm 15.3382 (+nanz)| lr 8.57e-07 | 2500.00 "
            "ms | 42.6% bf16 MFU | 171559 tok/s",
            Sighting(
                unit="step",
                current=1,
                total=19560,
                series="step",
                rate_per_s=0.4,
                metrics={
                    "loss": 11.0021,
                    "norm": 15.3382,
                    "lr": 8.57e-07,
                    "tokens_per_s": 171559.0,
                },
            ),
        ),
        Sample(
            "step    3/74: train loss 4.102 (250.00 ms, 16384 tok/s)",
            Sighting(
                unit="step",
                current=3,
                total=74,
                series="step",
                rate_per_s=4,
                metrics={"loss": 4.102, "tokens_per_s": 16384.0},
            ),
        ),
        Sample(
            "step 00010/21400 (0.05%) | loss: 10.412345 | lrm: 1.00 | dt: 500.00ms | "
            "tok/sec: 1,037,967 | mfu: 47.12 | total time: 0.50m",
            Sighting(
                unit="step",
                current=10,
                total=21400,
                series="step",
                elapsed_s=30,
                rate_per_s=2,
                metrics={
                    "loss": 10.412345,
                    "lrm": 1.0,
                    "mfu": 47.12,
                    "tokens_per_s": 1037967.0,
                },
            ),
        ),
        Sample(
            "step 00120 (12.34%) | loss: 3.21 | lrm: 0.90 | dt: 505ms | tok/sec: 999,000 | "
            "mfu: 40.1% | epoch: 1 | remaining: 263s",
            Sighting(
                unit="percent",
                current=12.34,
                total=100,
                series="step",
                eta_s=263,
                metrics={"loss": 3.21, "lrm": 0.9, "mfu": 40.1, "tokens_per_s": 999000.0},
            ),
        ),
        Sample(
            "Calculated number of iterations from target data:param ratio: 21,400",
            Sighting(unit="step", total=21400),
        ),
        Sample("iter 250: starting", None),
        Sample("step 250: train", None),
        Sample("step:9/5 val_loss:3 train_time:1ms step_avg:1ms", None),
        Sample("step:5 val_loss:3", None),
        Sample("step    9/5 | loss 11.0 | 2500.00 ms | 171559 tok/s", None),
        Sample("step 00120 (12.34%) | done", None),
        Sample("step:1/2 " + "a:1 " * 20_000, None),
        Sample("step 1/2 | loss 1 " + "| " * 20_000, None),
    )


def _iteration(text: str) -> Sighting | None:
    found = _ITER.match(text)
    if found is None:
        return None
    metrics = {"loss": float(found[2])} | ({"mfu": float(found[4])} if found[4] else {})
    rate = rate_of(float(found[3]) / 1000)
    return Sighting(
        unit="step", current=float(found[1]), series="iter", rate_per_s=rate, metrics=metrics
    )


def _evaluated(text: str) -> Sighting | None:
    found = _EVALUATED.match(text)
    if found is None:
        return None
    losses = {"train_loss": float(found[2]), "val_loss": float(found[3])}
    return Sighting(unit="step", current=float(found[1]), series="iter", metrics=losses)


def _modded(text: str) -> Sighting | None:
    found = _MODDED.match(text)
    counts = None if found is None else counted(found[1], found[2])
    if found is None or counts is None:
        return None
    return Sighting(
        unit="step",
        current=counts[0],
        total=counts[1],
        series="step",
        elapsed_s=float(found[4]) * (0.001 if found[5] == "ms" else 1.0),
        rate_per_s=rate_of(float(found[6]) / 1000) if found[6] else None,
        metrics=metrics_in(found[3]),
    )


def _llmc(text: str) -> Sighting | None:
    found = _LLMC.match(text)
    counts = None if found is None else counted(found[1], found[2])
    if found is None or counts is None:
        return None
    others = {name: float(value) for name, value in _OF_LLMC.findall(found[4])}
    return Sighting(
        unit="step",
        current=counts[0],
        total=counts[1],
        series="step",
        rate_per_s=rate_of(float(found[5]) / 1000),
        metrics={"loss": float(found[3])} | others | {"tokens_per_s": float(found[6])},
    )


def _nanochat(text: str) -> Sighting | None:
    """Without a total the share is what counts: some of these runs have a budget of time."""
    found = _NANOCHAT.match(text)
    if found is None:
        return None
    counts = (float(found[3]), _ALL) if found[2] is None else counted(found[1], found[2])
    if counts is None or counts[0] > counts[1]:
        return None
    times = {name: seconds_of(value) for name, value in _TIME.findall(text)}
    milliseconds, tokens = _DT.search(text), _TOKENS.search(text)
    speed = count_of(tokens[1]) if tokens and tokens[1].strip(",") else None
    metrics = metrics_in(text, without=_NO_METRICS)
    return Sighting(
        unit="step" if found[2] else "percent",
        current=counts[0],
        total=counts[1],
        series="step",
        elapsed_s=times.get("total time") or times.get("elapsed"),
        rate_per_s=rate_of(float(milliseconds[1]) / 1000) if milliseconds and found[2] else None,
        eta_s=times.get("eta") or times.get("remaining"),
        metrics=metrics | ({"tokens_per_s": speed} if speed else {}),
    )


_NO_METRICS = frozenset({"epoch", "step", "dt", "eta", "remaining", "elapsed", "tok/sec", "tok/s"})
