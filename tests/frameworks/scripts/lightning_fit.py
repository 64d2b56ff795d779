"""Lightning on random numbers, with or without a validation after each epoch."""

import sys
import tempfile
import time

import lightning
import torch
from lightning.pytorch.callbacks import TQDMProgressBar

EPOCHS, STEPS, BATCH, STEP_S = 3, 16, 4, 0.19


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, _):
        time.sleep(STEP_S)
        loss = self.layer(batch[0]).pow(2).mean()
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self.layer(batch[0]).pow(2).mean(), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def batches(count):
    data = torch.utils.data.TensorDataset(torch.randn(count * BATCH, 8))
    return torch.utils.data.DataLoader(data, batch_size=BATCH)


with tempfile.TemporaryDirectory() as folder:
    trainer = lightning.Trainer(
        max_epochs=EPOCHS,
        default_root_dir=folder,
        accelerator="cpu",
        logger=False,
        callbacks=[TQDMProgressBar()],  # where rich is installed its silent bar is the default
    )
    validation = batches(3) if "--validate" in sys.argv else None
    trainer.fit(Model(), batches(STEPS), validation)
