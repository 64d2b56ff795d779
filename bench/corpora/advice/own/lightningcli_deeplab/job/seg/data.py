import lightning.pytorch as pl
from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision.transforms import v2


class Cityscapes(pl.LightningDataModule):
    def __init__(self, root: str, crop: int = 768, batch_size: int = 2, val_batch_size: int = 1,
                 workers: int = 4, n_classes: int = 19):
        super().__init__()
        self.save_hyperparameters()

    def _set(self, split, tf):
        return datasets.Cityscapes(self.hparams.root, split=split, mode="fine",
                                   target_type="semantic", transforms=tf)

    def train_dataloader(self):
        tf = v2.Compose([v2.RandomCrop(self.hparams.crop), v2.RandomHorizontalFlip(), v2.ToImage()])
        return DataLoader(self._set("train", tf), self.hparams.batch_size, shuffle=True,
                          num_workers=self.hparams.workers, drop_last=True)

    def val_dataloader(self):
        return DataLoader(self._set("val", v2.ToImage()), self.hparams.val_batch_size,
                          num_workers=self.hparams.workers)
