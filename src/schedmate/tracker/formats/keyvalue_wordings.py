"""More lines as people write them: other words and languages, brackets alone, other phases."""

from __future__ import annotations

from schedmate.model import Checkpoint
from schedmate.tracker.formats.base import Ordinal, Sample, Sighting


def _within(line: str, series: str, epochs: float | None = 25, **metrics: float) -> Sample:
    """Step 350 of the 1583 of epoch 2."""
    sighting = Sighting(
        unit="step",
        current=350,
        total=1583,
        series=series,
        epoch=2,
        epochs=epochs,
        per_epoch=True,
        metrics=metrics,
    )
    return Sample(line, sighting)


def _epoch(line: str, series: str, ordinal: Ordinal = "begun", **metrics: float) -> Sample:
    """Epoch 3 of 90."""
    sighting = Sighting(
        unit="epoch",
        current=3,
        total=90,
        series=series,
        ordinal=ordinal,
        epoch=3,
        epochs=90,
        metrics=metrics,
    )
    return Sample(line, sighting)


def _step(line: str, series: str, **metrics: float) -> Sample:
    """Step 120 of 5000."""
    sighting = Sighting(unit="step", current=120, total=5000, series=series, metrics=metrics)
    return Sample(line, sighting)


WORDINGS: tuple[Sample, ...] = (
    _within("[2/25][350/1583]\tLoss_D: 0.5 Loss_G: 1.8", "[]", loss_d=0.5, loss_g=1.8),
    _within("(2/25) (350/1583) loss 0.3", "[]", loss=0.3),
    _within("[Epoch 2/25] [Batch 350/1583] [D loss: 0.5]", "batch", d_loss=0.5),
    _within("Epoch 2/25 - 350/1583", "epoch[]"),
    _within("Epoch 2/25: 350/1583 loss 0.3", "epoch[]", loss=0.3),
    _within("E2 S350/1583", "s", None),
    _within("ep2 it350/1583 loss=0.3", "it", None, loss=0.3),
    _epoch("ep. 3 von 90", "ep"),
    _epoch("epoca 3 de 90", "epoca"),
    _epoch("эпоха 3/90", "эпоха"),
    _epoch("Эпоха 3 из 90, loss: 0.5", "эпоха", "ended", loss=0.5),
    _epoch("エポック 3/90", "エポック"),
    _epoch("第 3/90 轮, 损失: 0.5", "轮", "ended", 损失=0.5),
    _epoch("第3轮/共90轮 loss: 0.5", "轮", "ended", loss=0.5),
    _step("Iter: 120 -- max 5000", "iter"),
    _step("updates: 120 (max 5000)", "updates"),
    _step("step 120 (of 5000)", "step"),
    _step("itr 120/5000 loss 0.3", "itr", loss=0.3),
    _step("Global Step 120 of 5000", "global step"),
    Sample(
        "sample 64000 / 1.28M",
        Sighting(unit="sample", current=64_000, total=1_280_000, series="sample"),
    ),
    Sample(
        "Runde 3/50",
        Sighting(unit="step", current=3, total=50, series="runde", ordinal="begun"),
    ),
    Sample(
        "loss = 1.03, step = 2900 (2.15 sec)",
        Sighting(unit="step", current=2900, series="step", metrics={"loss": 1.03}),
    ),
    Sample(
        "global_step=7552, episodic_return=[123.]",
        Sighting(
            unit="step", current=7552, series="global_step", metrics={"episodic_return": 123.0}
        ),
    ),
    Sample(
        "step 5, max 90, min 3, loss 0.5",
        Sighting(unit="step", current=5, series="step", metrics={"loss": 0.5}),
    ),
    Sample(
        "Epoch 5: 3/10 correct, loss: 0.3",
        Sighting(
            unit="epoch",
            current=5,
            series="epoch",
            ordinal="ended",
            epoch=5,
            metrics={"loss": 0.3},
        ),
    ),
    Sample(
        "Validation step 3/10 loss 2.3",
        Sighting(
            unit="step",
            current=3,
            total=10,
            series="eval step",
            metrics={"loss": 2.3},
            phase="evaluating",
        ),
    ),
    Sample(
        "Evaluated 10/100 samples",
        Sighting(unit="sample", current=10, total=100, series="eval samples", phase="evaluating"),
    ),
    Sample(
        "Epoch 3/90 loss=0.2, saved checkpoint to out/e3.pt",
        Sighting(
            unit="epoch",
            current=3,
            total=90,
            series="epoch",
            ordinal="ended",
            epoch=3,
            epochs=90,
            metrics={"loss": 0.2},
            checkpoint=Checkpoint(path="out/e3.pt"),
        ),
    ),
    Sample(
        "Starting round 3/50",
        Sighting(unit="step", current=3, total=50, series="round", ordinal="begun"),
    ),
    Sample(
        "Epoch[0] Batch [0-20]\tSpeed: 18847.25 samples/sec\taccuracy=0.5",
        Sighting(
            unit="epoch",
            current=0,
            series="epoch",
            ordinal="begun",
            epoch=0,
            metrics={"speed": 18847.25, "accuracy": 0.5, "samples_per_s": 18847.25},
        ),
    ),
    Sample(
        "step=1000/50000 tokens=1.0B loss=3.1 tok/s=51.2k",
        Sighting(
            unit="step",
            current=1000,
            total=50_000,
            series="step",
            metrics={"loss": 3.1, "tokens_per_s": 51200.0},
        ),
    ),
    Sample(
        "Task 2/5, epoch 3/10: acc 0.9",
        Sighting(
            unit="step", current=2, total=5, series="task", ordinal="begun", metrics={"acc": 0.9}
        ),
    ),
    Sample(
        "seed 2/3 | step 100/1000",
        Sighting(unit="step", current=2, total=3, series="seed", ordinal="begun"),
    ),
    Sample(
        "stage 1/2 | step 100/1000 loss=2.5",
        Sighting(
            unit="step", current=100, total=1000, series="step", metrics={"loss": 2.5}, sure=0.4
        ),
    ),
    Sample(
        "epoch 3 took 35 s",
        Sighting(unit="epoch", current=3, series="epoch", ordinal="ended", epoch=3),
    ),
)
