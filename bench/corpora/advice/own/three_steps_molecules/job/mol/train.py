import argparse
import os

import torch
import yaml
from nets import GINENet
from ogb.graphproppred import Evaluator, PygGraphPropPredDataset
from torch_geometric.loader import DataLoader

pre = argparse.ArgumentParser(add_help=False)
pre.add_argument("-c", "--config")
known, rest = pre.parse_known_args()

p = argparse.ArgumentParser(parents=[pre])
p.add_argument("--model", default="gcn")
p.add_argument("--dataset", default="ogbg-molpcba")
p.add_argument("--hidden", type=int, default=128)
p.add_argument("--layers", type=int, default=3)
p.add_argument("--dropout", type=float, default=0.0)
p.add_argument("--batch_size", type=int, default=32)
p.add_argument("--test_batch_size", type=int, default=512)
p.add_argument("--epochs", type=int, default=10)
p.add_argument("--lr", type=float, default=1e-2)
p.add_argument("--weight_decay", type=float, default=0)
p.add_argument("--patience", type=int, default=None)
p.add_argument("--plateau_patience", type=int, default=5)
p.add_argument("--save", default="ckpt")
if known.config:
    with open(known.config) as f:
        p.set_defaults(**yaml.safe_load(f))
args = p.parse_args()

ds = PygGraphPropPredDataset(args.dataset, "data")
split, judge = ds.get_idx_split(), Evaluator(args.dataset)
train = DataLoader(ds[split["train"]], batch_size=args.batch_size, shuffle=True)
valid = DataLoader(ds[split["valid"]], batch_size=args.test_batch_size)

net = GINENet(args.hidden, args.layers, args.dropout).cuda()
opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=args.weight_decay)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, "max", patience=args.plateau_patience)
os.makedirs(args.save, exist_ok=True)

best, bad = 0.0, 0
for epoch in range(args.epochs):
    net.train()
    for g in train:
        g = g.cuda()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(net(g), g.y.float().squeeze(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    y, s = [], []
    with torch.no_grad():
        for g in valid:
            y.append(g.y)
            s.append(net(g.cuda()).cpu()[:, None])
    auc = judge.eval({"y_true": torch.cat(y), "y_pred": torch.cat(s)})["rocauc"]
    sched.step(auc)
    print(epoch, round(loss.item(), 4), round(auc, 4))
    bad = 0 if auc > best else bad + 1
    if auc > best:
        best = auc
        torch.save(net.state_dict(), f"{args.save}/best.pt")
    if args.patience is not None and bad > args.patience:
        break
