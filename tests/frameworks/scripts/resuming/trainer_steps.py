"""The transformers Trainer: a checkpoint every few steps, and on from the last one."""

import argparse
import time

import torch
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--every", type=int, default=10)
parser.add_argument("--step-s", type=float, default=0.1)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", default="checkpoints")
args = parser.parse_args()
torch.manual_seed(args.seed)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def forward(self, x, labels):
        return {"loss": (self.layer(x) - labels).pow(2).mean()}


class Slowly(TrainerCallback):
    def on_step_end(self, *_, **__):
        time.sleep(args.step_s)


truth = torch.randn(8, 1)
samples = [{"x": x, "labels": x @ truth} for x in torch.randn(64, 8)]
trainer = Trainer(
    model=Model(),
    args=TrainingArguments(
        output_dir=args.out,
        max_steps=args.steps,
        per_device_train_batch_size=4,
        learning_rate=0.02,
        lr_scheduler_type="constant",
        logging_steps=1,
        save_steps=args.every,
        save_total_limit=2,
        seed=args.seed,
        report_to="none",
    ),
    train_dataset=samples,
    callbacks=[Slowly()],
)
trainer.train(resume_from_checkpoint=get_last_checkpoint(args.out))
