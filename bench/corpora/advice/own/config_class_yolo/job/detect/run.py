import os
import sys

import torch
from torch.utils.data import DataLoader
from torchvision.models import detection

from config import CocoConfig, DroneConfig
from visdrone import VisDrone, collate

CONFIGS = {"coco": CocoConfig, "drone": DroneConfig}


class Runner:
    def __init__(self, config):
        self.c = config
        self.dir = os.path.join(config.LOG_DIR, config.NAME)
        os.makedirs(self.dir, exist_ok=True)
        net = getattr(detection, config.MODEL)(num_classes=config.N_CLASSES)
        self.net = net.cuda()
        self.opt = torch.optim.SGD(net.parameters(), lr=config.LEARNING_RATE, momentum=config.MOMENTUM)
        self.scaler = torch.cuda.amp.GradScaler(enabled=config.HALF)
        self.sched = torch.optim.lr_scheduler.MultiStepLR(self.opt, config.LR_STEPS)
        self.epoch = 0
        if config.RESUME:
            self.load(os.path.join(self.dir, "last.pt"))

    def load(self, path):
        s = torch.load(path)
        self.net.load_state_dict(s["net"])
        self.opt.load_state_dict(s["opt"])
        self.epoch = s["epoch"]

    def save(self):
        state = {"net": self.net.state_dict(), "opt": self.opt.state_dict(), "epoch": self.epoch}
        torch.save(state, os.path.join(self.dir, "last.pt"))

    def fit(self, root):
        c = self.c
        loader = DataLoader(VisDrone(root, "train"), batch_size=c.IMAGES_PER_GPU, shuffle=True,
                            num_workers=8, collate_fn=collate)
        while self.epoch < c.EPOCHS:
            self.net.train()
            for images, targets in loader:
                images = [i.cuda() for i in images]
                targets = [{k: v.cuda() for k, v in t.items()} for t in targets]
                with torch.cuda.amp.autocast(enabled=c.HALF):
                    loss = sum(self.net(images, targets).values())
                self.opt.zero_grad()
                self.scaler.scale(loss).backward()
                self.scaler.step(self.opt)
                self.scaler.update()
            self.sched.step()
            self.epoch += 1
            print(f"epoch {self.epoch}/{c.EPOCHS} loss {loss.item():.3f}")
            if self.epoch % c.SAVE_EVERY == 0:
                self.save()


if __name__ == "__main__":
    config = CONFIGS[sys.argv[1]]()
    config.show()
    Runner(config).fit(os.environ["DATA"])
