"""Lightning: a checkpoint every few steps without a word about it, and on from the last one."""

import argparse
import time
import warnings
from pathlib import Path

import lightning
import torch
from lightning.fabric.plugins.environments import LightningEnvironment
from lightning.pytorch.callbacks import Callback, ModelCheckpoint

warnings.filterwarnings("ignore")
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--every", type=int, default=10)
parser.add_argument("--step-s", type=float, default=0.1)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", default="checkpoints")
args = parser.parse_args()
lightning.seed_everything(args.seed)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.register_buffer("truth", torch.randn(8, 1))
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, _):
        noise = torch.Generator().manual_seed(1000 * args.seed + self.global_step)
        batch = torch.randn(32, 8, generator=noise)
        return (self.layer(batch) - batch @ self.truth).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.02)


class Lines(Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        time.sleep(args.step_s)
        loss = outputs["loss"].item()
        print(f"step {trainer.global_step}/{args.steps} loss {loss:.6g}", flush=True)


trainer = lightning.Trainer(
    max_steps=args.steps,
    max_epochs=-1,
    accelerator="cpu",
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    plugins=[LightningEnvironment()],
    callbacks=[
        ModelCheckpoint(dirpath=args.out, every_n_train_steps=args.every, save_last=True),
        Lines(),
    ],
)
last = Path(args.out, "last.ckpt")
trainer.fit(
    Model(),
    torch.utils.data.DataLoader(torch.zeros(args.steps, 8)),
    ckpt_path=last if last.exists() else None,
    weights_only=False,
)
