"""Lines as people write them."""

from __future__ import annotations

from schedmate.tracker.formats.base import Sample, Sighting

SAMPLES: tuple[Sample, ...] = (
    Sample(
        "step=120 loss=0.3",
        Sighting(unit="step", current=120, series="step", metrics={"loss": 0.3}),
    ),
    Sample(
        "Epoch 3/90",
        Sighting(
            unit="epoch", current=3, total=90, series="epoch", ordinal="begun", epoch=3, epochs=90
        ),
    ),
    Sample(
        "Starting epoch 3/90",
        Sighting(
            unit="epoch", current=3, total=90, series="epoch", ordinal="begun", epoch=3, epochs=90
        ),
    ),
    Sample(
        "Epoch 3/90, lr: 0.01",
        Sighting(
            unit="epoch",
            current=3,
            total=90,
            series="epoch",
            ordinal="begun",
            epoch=3,
            epochs=90,
            metrics={"lr": 0.01},
        ),
    ),
    Sample(
        "Epoch 3/90 - train loss: 0.51, val acc=71.2%",
        Sighting(
            unit="epoch",
            current=3,
            total=90,
            series="epoch",
            ordinal="ended",
            epoch=3,
            epochs=90,
            metrics={"train_loss": 0.51, "val_acc": 71.2},
        ),
    ),
    Sample(
        "Epoch 3/90 finished in 35s",
        Sighting(
            unit="epoch", current=3, total=90, series="epoch", ordinal="ended", epoch=3, epochs=90
        ),
    ),
    Sample(
        "Epoch [2/5], Step [100/600], Loss: 0.4321",
        Sighting(
            unit="step",
            current=100,
            total=600,
            series="step",
            epoch=2,
            epochs=5,
            per_epoch=True,
            metrics={"loss": 0.4321},
        ),
    ),
    Sample(
        "Epoch [3/90][100/600] loss 2.3",
        Sighting(
            unit="step",
            current=100,
            total=600,
            series="epoch[]",
            epoch=3,
            epochs=90,
            per_epoch=True,
            metrics={"loss": 2.3},
        ),
    ),
    Sample(
        "Train Epoch: 3 [1280/60000 (2%)]\tLoss: 0.34",
        Sighting(
            unit="sample",
            current=1280,
            total=60_000,
            series="epoch[]",
            epoch=3,
            per_epoch=True,
            metrics={"loss": 0.34},
        ),
    ),
    Sample(
        "Ep 3 | it 100/500",
        Sighting(unit="step", current=100, total=500, series="it", epoch=3, per_epoch=True),
    ),
    Sample("epoch=3 step=100", Sighting(unit="step", current=100, series="step", epoch=3)),
    Sample(
        "epoch 3/10 step 500 loss 0.2",
        Sighting(
            unit="epoch",
            current=3,
            total=10,
            series="epoch",
            ordinal="begun",
            epoch=3,
            epochs=10,
            metrics={"loss": 0.2},
        ),
    ),
    Sample(
        "Epoch 3, batch 10, loss 0.3",
        Sighting(
            unit="epoch", current=3, series="epoch", ordinal="begun", epoch=3, metrics={"loss": 0.3}
        ),
    ),
    Sample(
        "epoch: 0.53, step 100/600, loss: 1",
        Sighting(
            unit="step", current=100, total=600, series="step", epoch=0.53, metrics={"loss": 1.0}
        ),
    ),
    Sample(
        "batch 10/100 of epoch 2/5",
        Sighting(
            unit="step", current=10, total=100, series="batch", epoch=2, epochs=5, per_epoch=True
        ),
    ),
    Sample("step 100 / 5,000", Sighting(unit="step", current=100, total=5000, series="step")),
    Sample("5.0k/10k steps", Sighting(unit="step", current=5000, total=10_000, series="steps")),
    Sample("Step: 100 (2.0%)", Sighting(unit="percent", current=2, total=100, series="step")),
    Sample(
        "INFO:root:(100/5000) loss: 2.3",
        Sighting(unit="step", current=100, total=5000, series="[]", metrics={"loss": 2.3}),
    ),
    Sample("it=100/5000", Sighting(unit="step", current=100, total=5000, series="it")),
    Sample(
        "Training: 12% | loss 2.3 | eta 12m",
        Sighting(
            unit="percent", current=12, total=100, series="%", eta_s=720, metrics={"loss": 2.3}
        ),
    ),
    Sample(
        "Round 3/50", Sighting(unit="step", current=3, total=50, series="round", ordinal="begun")
    ),
    Sample(
        "fold 2/5 epoch 3/10",
        Sighting(
            unit="epoch",
            current=3,
            total=10,
            series="fold's epoch",
            ordinal="begun",
            epoch=2,
            epochs=5,
            per_epoch=True,
        ),
    ),
    Sample(
        "tokens 1.2B/10B",
        Sighting(unit="token", current=1_200_000_000, total=10_000_000_000, series="tokens"),
    ),
    Sample(
        "processed 1000/60000 samples",
        Sighting(unit="sample", current=1000, total=60_000, series="samples"),
    ),
    Sample(
        "step 100 | tokens 1.2B/10B | loss 3.1",
        Sighting(
            unit="token",
            current=1_200_000_000,
            total=10_000_000_000,
            series="tokens",
            metrics={"loss": 3.1},
        ),
    ),
    Sample(
        "Epoche 3 von 90",
        Sighting(
            unit="epoch", current=3, total=90, series="epoche", ordinal="begun", epoch=3, epochs=90
        ),
    ),
    Sample(
        "第 3/90 轮",
        Sighting(
            unit="epoch", current=3, total=90, series="轮", ordinal="begun", epoch=3, epochs=90
        ),
    ),
    Sample(
        "Average loss at step 2000 :  113.8",
        Sighting(unit="step", current=2000, series="step", metrics={"loss": 113.8}),
    ),
    Sample(
        "step=100 max_steps=5000 loss=2.2",
        Sighting(unit="step", current=100, total=5000, series="step", metrics={"loss": 2.2}),
    ),
    Sample(
        "step 00010 (12.3%) | loss: 3.2 | dt: 505ms | tok/sec: 1,037,967 | remaining: 123s",
        Sighting(
            unit="percent",
            current=12.3,
            total=100,
            series="step",
            eta_s=123,
            metrics={"loss": 3.2, "tokens_per_s": 1037967.0},
        ),
    ),
    Sample(
        "step 100/5000 loss 2.31 | 125 ms/step | elapsed 1m 20s",
        Sighting(
            unit="step",
            current=100,
            total=5000,
            series="step",
            elapsed_s=80,
            rate_per_s=8,
            metrics={"loss": 2.31},
        ),
    ),
    Sample(
        "Step 100: loss=2.31, lr=1e-4, 4.0 it/s, eta 1:02:03",
        Sighting(
            unit="step",
            current=100,
            series="step",
            rate_per_s=4,
            eta_s=3723,
            metrics={"loss": 2.31, "lr": 0.0001},
        ),
    ),
    Sample(
        "| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 12.50 | loss  7.63",
        Sighting(
            unit="step",
            current=200,
            total=2983,
            series="batches",
            epoch=1,
            per_epoch=True,
            rate_per_s=80,
            metrics={"lr": 20.0, "loss": 7.63},
        ),
    ),
    Sample(
        "I0101 12:00:00.000000 140 train.py:300] train epoch: 3, loss: 0.12, accuracy: 96.10",
        Sighting(
            unit="epoch",
            current=3,
            series="epoch",
            ordinal="ended",
            epoch=3,
            metrics={"loss": 0.12, "accuracy": 96.1},
        ),
    ),
    Sample(
        "Finished training step 12. Batch size: 512, Loss: 10.51423, LR: 0.00000",
        Sighting(
            unit="step",
            current=12,
            series="training step",
            metrics={"batch_size": 512.0, "loss": 10.51423, "lr": 0.0},
        ),
    ),
)
