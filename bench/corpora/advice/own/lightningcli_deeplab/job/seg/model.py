import lightning.pytorch as pl
import torch
import torchvision.models.segmentation as zoo
from torchmetrics.classification import MulticlassJaccardIndex


class SegModel(pl.LightningModule):
    def __init__(self, arch: str = "fcn_resnet50", n_classes: int = 21, ignore_index: int = 255):
        super().__init__()
        self.net = getattr(zoo, arch)(num_classes=n_classes, weights_backbone="DEFAULT")
        self.loss = torch.nn.CrossEntropyLoss(ignore_index=ignore_index)
        self.iou = MulticlassJaccardIndex(n_classes, ignore_index=ignore_index)

    def forward(self, x):
        return self.net(x)["out"]

    def training_step(self, batch, i):
        x, y = batch
        loss = self.loss(self(x), y)
        self.log("train/loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, i):
        x, y = batch
        self.iou(self(x).argmax(1), y)
        self.log("val/miou", self.iou, on_epoch=True, sync_dist=True)
