"""Fine-tune a ViT on the Oxford flowers."""
import argparse
import os
import random

import numpy as np
import timm
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default="data")
    p.add_argument("--arch", default="vit_base_patch16_224")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--wd", type=float, default=0.05)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--eval-batch-size", type=int, default=256)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--warmup-epochs", type=int, default=3)
    p.add_argument("--accum", type=int, default=1)
    p.add_argument("--amp", choices=["none", "fp16", "bf16"], default="none")
    p.add_argument("--save-every", type=int, default=5)
    p.add_argument("--out", default="out")
    p.add_argument("--momentum", type=float, default=0.9, help="unused since we moved to AdamW")
    return p.parse_args()


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def loaders(args):
    train_tf = transforms.Compose([
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ])
    test_tf = transforms.Compose([
        transforms.Resize(256), transforms.CenterCrop(224),
        transforms.ToTensor(), transforms.Normalize(MEAN, STD),
    ])
    tr = datasets.Flowers102(args.data, split="train", transform=train_tf, download=True)
    va = datasets.Flowers102(args.data, split="val", transform=test_tf, download=True)
    return (
        DataLoader(tr, batch_size=args.batch_size, shuffle=True, num_workers=8, drop_last=True),
        DataLoader(va, batch_size=args.eval_batch_size, num_workers=8),
    )


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    good = total = 0
    for x, y in loader:
        pred = model(x.to(device)).argmax(1).cpu()
        good += (pred == y).sum().item()
        total += len(y)
    return good / total


def main():
    args = get_args()
    seed_everything(args.seed)
    device = torch.device("cuda")
    train, val = loaders(args)
    model = timm.create_model(args.arch, pretrained=True, num_classes=102).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.wd)
    sched = torch.optim.lr_scheduler.OneCycleLR(
        opt, max_lr=args.lr, epochs=args.epochs, steps_per_epoch=len(train) // args.accum + 1
    )
    dtype = {"none": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[args.amp]
    crit = nn.CrossEntropyLoss(label_smoothing=0.1)
    for epoch in range(args.epochs):
        model.train()
        for i, (x, y) in enumerate(train):
            with torch.autocast("cuda", dtype=dtype, enabled=args.amp != "none"):
                loss = crit(model(x.to(device)), y.to(device)) / args.accum
            loss.backward()
            if (i + 1) % args.accum == 0:
                opt.step()
                opt.zero_grad(set_to_none=True)
                sched.step()
        acc = evaluate(model, val, device)
        print(f"epoch {epoch} loss {loss.item():.4f} val {acc:.4f}", flush=True)
        if (epoch + 1) % args.save_every == 0:
            torch.save(model.state_dict(), os.path.join(args.out, f"ep{epoch + 1}.pt"))


if __name__ == "__main__":
    main()
