"""The transformers Trainer on random numbers, with an evaluation and a checkpoint an epoch."""

import sys
import tempfile
import time

import torch
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.utils import logging

EPOCHS, STEPS, BATCH, STEP_S = 3, 16, 4, 0.19


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)

    def forward(self, x, labels):
        logits = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Slowly(TrainerCallback):
    def on_step_end(self, args, state, control, **_):
        time.sleep(STEP_S)


def samples(count):
    return [{"x": torch.randn(8), "labels": torch.randint(2, ())} for _ in range(count)]


if "--verbose" in sys.argv:
    logging.set_verbosity_info()
with tempfile.TemporaryDirectory() as folder:
    Trainer(
        model=Model(),
        args=TrainingArguments(
            folder,
            num_train_epochs=EPOCHS,
            per_device_train_batch_size=BATCH,
            logging_steps=4,
            eval_strategy="epoch",
            save_strategy="epoch",
            report_to="none",
            disable_tqdm="--no-bar" in sys.argv,
        ),
        train_dataset=samples(STEPS * BATCH),
        eval_dataset=samples(2 * BATCH),
        callbacks=[Slowly()],
    ).train()
