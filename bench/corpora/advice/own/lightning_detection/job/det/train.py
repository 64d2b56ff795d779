"""Wheat heads with Faster R-CNN.

Defaults are for the two-GPU box in the lab.
"""
from argparse import ArgumentParser
from pathlib import Path

import lightning as L
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger

from datamodule import WheatData
from module import Detector

TRAINER_KW = {
    "accelerator": "gpu",
    "devices": 2,
    "strategy": "ddp",
    "precision": "bf16-mixed",
    "accumulate_grad_batches": 3,
    "gradient_clip_val": 10.0,
    "log_every_n_steps": 20,
    "max_epochs": 12,
    "max_time": "00:12:00:00",
}


def callbacks(where: Path) -> list:
    return [
        ModelCheckpoint(
            dirpath=where,
            filename="{epoch}-{val_map:.3f}",
            every_n_epochs=2,
            save_top_k=-1,
        ),
        EarlyStopping("val_map", mode="max", patience=8),
        LearningRateMonitor("step"),
    ]


def main() -> None:
    ap = ArgumentParser()
    ap.add_argument("--data", type=Path, required=True)
    ap.add_argument("--bs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--max-epochs", type=int, default=None)
    ap.add_argument("--fast", action="store_true", help="one batch of each")
    args = ap.parse_args()

    kw = dict(TRAINER_KW)
    if args.max_epochs is not None:
        kw["max_epochs"] = args.max_epochs
    if args.fast:
        kw.update(fast_dev_run=True, devices=1, strategy="auto")

    L.seed_everything(2023, workers=True)
    trainer = L.Trainer(
        logger=CSVLogger("csv_logs"),
        callbacks=callbacks(Path("lightning_ckpt") / args.data.name),
        **kw,
    )
    data = WheatData(args.data, batch_size=args.bs, workers=6)
    model = Detector(n_classes=2, lr=args.lr)
    trainer.fit(model, datamodule=data)
    trainer.validate(model, datamodule=data)


if __name__ == "__main__":
    main()
