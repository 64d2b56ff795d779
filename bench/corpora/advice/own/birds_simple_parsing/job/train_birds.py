from dataclasses import dataclass, field
from pathlib import Path

import torch
from simple_parsing import ArgumentGenerationMode, ArgumentParser, NestedMode
from torch.utils.data import DataLoader
from torchvision import models, transforms
from torchvision.datasets import ImageFolder


@dataclass
class DataConf:
    root: str = "/data/birds200"
    batch_size: int = 64
    size: int = 224
    workers: int = 8


@dataclass
class EvalConf:
    every: int = 1
    batch_size: int = 256
    tta: bool = False


@dataclass
class OptimConf:
    lr: float = 1e-3
    min_lr: float = 1e-6
    wd: float = 0.05
    epochs: int = 35
    warmup: int = 5


@dataclass
class SaveConf:
    dir: Path = Path("out")
    every: int = 5  # epochs


@dataclass
class Conf:
    model: str = "convnext_tiny"
    data: DataConf = field(default_factory=DataConf)
    eval: EvalConf = field(default_factory=EvalConf)
    optim: OptimConf = field(default_factory=OptimConf)
    save: SaveConf = field(default_factory=SaveConf)


def loaders(c: Conf):
    aug = transforms.Compose([
        transforms.RandomResizedCrop(c.data.size), transforms.RandAugment(), transforms.ToTensor(),
    ])
    plain = transforms.Compose([
        transforms.Resize(c.data.size + 32), transforms.CenterCrop(c.data.size), transforms.ToTensor(),
    ])
    tr = ImageFolder(f"{c.data.root}/train", aug)
    te = ImageFolder(f"{c.data.root}/test", plain)
    return (
        DataLoader(tr, c.data.batch_size, shuffle=True, num_workers=c.data.workers),
        DataLoader(te, c.eval.batch_size, num_workers=c.data.workers),
        len(tr.classes),
    )


def main(c: Conf):
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    train, test, n = loaders(c)
    net = getattr(models, c.model)(weights="DEFAULT")
    net.classifier[-1] = torch.nn.Linear(net.classifier[-1].in_features, n)
    net = net.cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=c.optim.lr, weight_decay=c.optim.wd)
    sched = torch.optim.lr_scheduler.SequentialLR(opt, [
        torch.optim.lr_scheduler.LinearLR(opt, 0.01, total_iters=c.optim.warmup),
        torch.optim.lr_scheduler.CosineAnnealingLR(opt, c.optim.epochs - c.optim.warmup, c.optim.min_lr),
    ], [c.optim.warmup])
    loss_fn = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    c.save.dir.mkdir(parents=True, exist_ok=True)
    for e in range(1, c.optim.epochs + 1):
        net.train()
        for x, y in train:
            loss = loss_fn(net(x.cuda()), y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        if e % c.eval.every == 0:
            net.eval()
            with torch.no_grad():
                hits = [(net(x.cuda()).argmax(1).cpu() == y).float().mean().item() for x, y in test]
            print(f"{e:3d} {loss.item():.3f} {sum(hits) / len(hits):.3f}")
        if e % c.save.every == 0:
            torch.save(net.state_dict(), c.save.dir / f"birds-{e}.pt")


if __name__ == "__main__":
    parser = ArgumentParser(
        argument_generation_mode=ArgumentGenerationMode.NESTED, nested_mode=NestedMode.WITHOUT_ROOT
    )
    parser.add_arguments(Conf, dest="conf")
    main(parser.parse_args().conf)
