import argparse
import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, random_split

from data import LungSlices
from unet import UNet


def dice(p, t, eps=1e-6):
    p, t = p.flatten(1), t.flatten(1)
    return ((2 * (p * t).sum(1) + eps) / (p.sum(1) + t.sum(1) + eps)).mean()


parser = argparse.ArgumentParser()
parser.add_argument('--root', required=True)
parser.add_argument('--run', default='debug')
parser.add_argument('--bs', type=int, default=8, help='GLOBAL batch size (split over the gpus by DataParallel)')
parser.add_argument('--lr', type=float, default=1e-4)
parser.add_argument('--n_epochs', type=int, default=150)
parser.add_argument('--amp', action='store_true')
parser.add_argument('--val_frac', type=float, default=0.1)
args = parser.parse_args()

ckpt_dir = os.path.join('checkpoints', args.run)
os.makedirs(ckpt_dir, exist_ok=True)

ds = LungSlices(args.root)
n_val = int(len(ds) * args.val_frac)
train_ds, val_ds = random_split(ds, [len(ds) - n_val, n_val], generator=torch.Generator().manual_seed(7))
train_dl = DataLoader(train_ds, batch_size=args.bs, shuffle=True, num_workers=8, pin_memory=True)
val_dl = DataLoader(val_ds, batch_size=4, num_workers=2)

net = UNet(1, 1, base=64)
net = nn.DataParallel(net).cuda()

# Adam with lr 1e-4
opt = torch.optim.RMSprop(net.parameters(), lr=args.lr, weight_decay=1e-8, momentum=0.9)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, 'max', patience=6, factor=0.5, min_lr=1e-7)
scaler = torch.cuda.amp.GradScaler(enabled=args.amp)
bce = nn.BCEWithLogitsLoss()

best, bad = 0.0, 0
for epoch in range(1, args.n_epochs + 1):
    net.train()
    for img, mask in train_dl:
        img, mask = img.cuda(non_blocking=True), mask.cuda(non_blocking=True)
        with torch.cuda.amp.autocast(enabled=args.amp):
            out = net(img)
            loss = bce(out, mask) + 1 - dice(torch.sigmoid(out), mask)
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()

    net.eval()
    scores = []
    with torch.no_grad():
        for img, mask in val_dl:
            scores.append(dice((torch.sigmoid(net(img.cuda())) > 0.5).float(), mask.cuda()).item())
    score = sum(scores) / max(1, len(scores))
    sched.step(score)
    print(f'[{epoch}/{args.n_epochs}] loss={loss.item():.4f} dice={score:.4f}')

    if epoch % 10 == 0:
        torch.save(net.module.state_dict(), os.path.join(ckpt_dir, f'e{epoch:03d}.pth'))
    if score > best:
        best, bad = score, 0
    else:
        bad += 1
        if bad >= 25:
            print('no better for 25 epochs, giving up')
            break
