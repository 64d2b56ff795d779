"""tqdm bars, as every second training script draws them."""

from __future__ import annotations

from typing import ClassVar

from schedmate.tracker.formats.bars import read_bar
from schedmate.tracker.formats.base import Sample, Sighting


class Tqdm:
    name = "tqdm"
    hints = ("%|", "/s", "s/")

    def read(self, line: str) -> Sighting | None:
        return read_bar(line)

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of tqdm 4.70.1, really run
        Sample(
            "  5%|▌         | 1/20 [00:00<00:00, 49.73it/s]",
            Sighting(unit="step", current=1, total=20, elapsed_s=0, rate_per_s=49.73),
        ),
        Sample(
            "Training:  50%|█████     | 1/2 [00:01<00:01,  1.30s/it]",
            Sighting(
                unit="step",
                current=1,
                total=2,
                series="Training",
                elapsed_s=1,
                rate_per_s=1 / 1.30,
            ),
        ),
        Sample(
            "  0%|          | 0/20 [00:00<?, ?it/s]",
            Sighting(unit="step", current=0, total=20, elapsed_s=0),
        ),
        Sample(
            "20it [00:00, 49.23it/s]",
            Sighting(unit="step", current=20, elapsed_s=0, rate_per_s=49.23),
        ),
        Sample(
            "train:  80%|████████  | 4/5 [00:00<00:00, 48.88it/s, loss=0.25, lr=0.0003]",
            Sighting(
                unit="step",
                current=4,
                total=5,
                series="train",
                elapsed_s=0,
                rate_per_s=48.88,
                metrics={"loss": 0.25, "lr": 0.0003},
            ),
        ),
        Sample(
            "Epoch:  33%|███▎      | 1/3 [00:00<00:00,  9.71it/s]",
            Sighting(
                unit="epoch", current=1, total=3, series="Epoch", elapsed_s=0, rate_per_s=9.71
            ),
        ),
        Sample(
            " 20%|██        | 1.00M/5.00M [00:00<00:00, 49.7Mtok/s]",
            Sighting(unit="token", current=1e6, total=5e6, elapsed_s=0, rate_per_s=49.7e6),
        ),
        Sample(
            " 33%|███▎      | 1.00G/3.00G [00:00<00:00, 53.1GB/s]",
            Sighting(
                unit="step",
                current=1e9,
                total=3e9,
                elapsed_s=0,
                rate_per_s=53.1e9,
                phase="starting",
            ),
        ),
        Sample(
            " 25%|##5       | 1/4 [00:00<00:00, 49.59batch/s]",
            Sighting(unit="step", current=1, total=4, elapsed_s=0, rate_per_s=49.59),
        ),
        Sample(
            "train: 12.5%|█▎        | 6/48 [00:00<00:05]",
            Sighting(unit="step", current=6, total=48, series="train", elapsed_s=0),
        ),
        Sample(
            "loss 0.577:   4%|4         | 2/48 [00:00<00:05,  8.20batch/s]",
            Sighting(
                unit="step",
                current=2,
                total=48,
                series="loss #",
                elapsed_s=0,
                rate_per_s=8.20,
            ),
        ),
        Sample(
            "train: 4it [00:00,  8.15it/s]",
            Sighting(unit="step", current=4, series="train", elapsed_s=0, rate_per_s=8.15),
        ),
        Sample(
            "  0%|          | 0/48 [00:00<?, ?it/s]/lib/dataloader.py:759: UserWarning: 3/4 [ok]",
            Sighting(unit="step", current=0, total=48, elapsed_s=0),
        ),
        Sample(
            "train_loss: 0.51 test_acc: 0.7:  50%|█████     | 8/16 [00:01<00:01,  8.15it/s]",
            Sighting(
                unit="step",
                current=8,
                total=16,
                series="train_loss: # test_acc: #",
                elapsed_s=1,
                rate_per_s=8.15,
                metrics={"train_loss": 0.51, "test_acc": 0.7},
            ),
        ),
        Sample(
            "Training epochs:  10%|█         | 9/90",
            Sighting(unit="epoch", current=9, total=90, series="Training epochs"),
        ),
        # composed after the documented format
        Sample(
            "Epoch 2/3:  45%|████▌     | 9/20 [1:02:03<1:15:50, 413.67s/it, loss=0.31]",
            Sighting(
                unit="step",
                current=9,
                total=20,
                series="Epoch #/#",
                epoch=2,
                epochs=3,
                per_epoch=True,
                elapsed_s=3723,
                rate_per_s=1 / 413.67,
                metrics={"loss": 0.31},
            ),
        ),
        Sample(
            "Validation: 100%|██████████| 13/13 [00:02<00:00,  5.10it/s]",
            Sighting(
                unit="step",
                current=13,
                total=13,
                series="Validation",
                elapsed_s=2,
                rate_per_s=5.10,
                phase="evaluating",
            ),
        ),
        Sample(" 50%|█████     | 1/2 [00:0", None),
        Sample("progress 10%| done |  3/4 more", None),
        Sample("coverage 100%| of 3/4 modules", None),
        Sample("99%|" + "█" * 5000, None),
        Sample("read 20 MB/s [ok, 3 s/it", None),
        Sample("\x00\x01%|\ufffd\ufffd| 1/", None),
    )
