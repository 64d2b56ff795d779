import argparse

import torch
from nets import GINENet
from ogb.graphproppred import PygGraphPropPredDataset
from torch_geometric.loader import DataLoader

p = argparse.ArgumentParser()
p.add_argument("--weights")
p.add_argument("--batch-size", type=int, default=64)
p.add_argument("--runs", type=int, default=1)
a = p.parse_args()
ds = PygGraphPropPredDataset("ogbg-molhiv", "data")
net = GINENet(300, 5, 0.5).cuda().eval()
net.load_state_dict(torch.load(a.weights))
for r in range(a.runs):
    for g in DataLoader(ds[ds.get_idx_split()["test"]], batch_size=a.batch_size):
        with torch.no_grad():
            net(g.cuda())
