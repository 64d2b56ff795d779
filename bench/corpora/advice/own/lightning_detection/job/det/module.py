import lightning as L
import torch
from torchmetrics.detection import MeanAveragePrecision
from torchvision.models.detection import fasterrcnn_resnet50_fpn
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor


class Detector(L.LightningModule):
    def __init__(self, n_classes: int, lr: float = 1e-3, momentum: float = 0.9):
        super().__init__()
        self.save_hyperparameters()
        self.net = fasterrcnn_resnet50_fpn(weights="DEFAULT")
        feats = self.net.roi_heads.box_predictor.cls_score.in_features
        self.net.roi_heads.box_predictor = FastRCNNPredictor(feats, n_classes)
        self.map = MeanAveragePrecision()

    def training_step(self, batch, _):
        images, targets = batch
        losses = self.net(images, targets)
        total = sum(losses.values())
        self.log_dict({f"train_{k}": v for k, v in losses.items()}, batch_size=len(images))
        return total

    def validation_step(self, batch, _):
        images, targets = batch
        self.map.update(self.net(images), targets)

    def on_validation_epoch_end(self):
        self.log("val_map", self.map.compute()["map"], sync_dist=True)
        self.map.reset()

    def configure_optimizers(self):
        params = [p for p in self.parameters() if p.requires_grad]
        opt = torch.optim.SGD(
            params,
            lr=self.hparams.lr,
            momentum=self.hparams.momentum,
            weight_decay=5e-4,
        )
        sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", patience=3)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "monitor": "val_map"}}
