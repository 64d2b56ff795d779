import logging
import os

import hydra
import torch
import torchvision as tv
from omegaconf import DictConfig, OmegaConf

from vit import VisionTransformer

log = logging.getLogger(__name__)


def make_optimizer(cfg, params):
    if cfg.kind == "lion":
        from lion_pytorch import Lion
        return Lion(params, lr=cfg.lr, weight_decay=cfg.weight_decay)
    if cfg.kind == "adamw":
        return torch.optim.AdamW(params, lr=cfg.lr, weight_decay=cfg.weight_decay)
    raise ValueError(cfg.kind)


def data(cfg):
    tf = tv.transforms.Compose([
        tv.transforms.RandomCrop(cfg.size, cfg.size // 8), tv.transforms.RandomHorizontalFlip(), tv.transforms.ToTensor(),
    ])
    if cfg.name == "stl10":
        tr = tv.datasets.STL10(cfg.root, "train", transform=tf)
        te = tv.datasets.STL10(cfg.root, "test", transform=tv.transforms.ToTensor())
    else:
        tr = tv.datasets.CIFAR10(cfg.root, True, transform=tf)
        te = tv.datasets.CIFAR10(cfg.root, False, transform=tv.transforms.ToTensor())
    mk = torch.utils.data.DataLoader
    return mk(tr, cfg.batch, shuffle=True, num_workers=8), mk(te, cfg.test_batch)


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg: DictConfig):
    log.info(OmegaConf.to_yaml(cfg, resolve=True))
    torch.manual_seed(cfg.seed)
    train, test = data(cfg.data)
    m = OmegaConf.to_container(cfg.model, resolve=True)
    m.pop("name")
    net = VisionTransformer(size=cfg.data.size, **m).cuda()
    opt = make_optimizer(cfg.optim, net.parameters())
    warm = cfg.trainer.warmup
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: min(1.0, (e + 1) / warm))
    amp = getattr(torch, cfg.trainer.amp) if cfg.trainer.amp else None
    os.makedirs(cfg.save.dir, exist_ok=True)

    for epoch in range(cfg.trainer.epochs):
        net.train()
        for i, (x, y) in enumerate(train):
            with torch.autocast("cuda", dtype=amp, enabled=amp is not None):
                loss = torch.nn.functional.cross_entropy(net(x.cuda()), y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
            if i % cfg.trainer.log_every == 0:
                log.info("%d/%d loss %.4f", epoch, i, loss.item())
        sched.step()
        net.eval()
        with torch.no_grad():
            acc = [(net(x.cuda()).argmax(1).cpu() == y).float().mean() for x, y in test]
        log.info("epoch %d acc %.4f", epoch, torch.stack(acc).mean())
        if (epoch + 1) % cfg.save.every == 0:
            torch.save(net.state_dict(), f"{cfg.save.dir}/{epoch + 1}.pt")


if __name__ == "__main__":
    main()
