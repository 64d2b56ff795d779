import argparse
from concurrent.futures import ProcessPoolExecutor

import torch
from ogb.graphproppred import PygGraphPropPredDataset

p = argparse.ArgumentParser()
p.add_argument("--workers", type=int, default=4)
p.add_argument("--batch-size", type=int, default=1024)
p.add_argument("--epochs", type=int, default=1, help="passes for the statistics")
a = p.parse_args()


def stats(part):
    return torch.stack([g.x.float().mean(0) for g in part]).mean(0)


if __name__ == "__main__":
    ds = PygGraphPropPredDataset("ogbg-molhiv", "data")
    parts = [ds[i:i + a.batch_size] for i in range(0, len(ds), a.batch_size)]
    with ProcessPoolExecutor(a.workers) as pool:
        torch.save(torch.stack(list(pool.map(stats, parts))).mean(0), "data/mean.pt")
