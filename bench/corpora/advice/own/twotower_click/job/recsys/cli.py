import os
import pathlib

import click
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tower(nn.Module):
    def __init__(self, n, dim, hidden):
        super().__init__()
        self.emb = nn.Embedding(n, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))

    def forward(self, ids):
        return F.normalize(self.mlp(self.emb(ids)), dim=-1)


class TwoTower(nn.Module):
    def __init__(self, users, items, dim=64, hidden=128):
        super().__init__()
        self.user, self.item = Tower(users, dim, hidden), Tower(items, dim, hidden)
        self.temp = nn.Parameter(torch.tensor(0.07))

    def forward(self, u, i):
        return self.user(u) @ self.item(i).T / self.temp


def read(path):
    df = pd.read_csv(pathlib.Path(path) / "ratings.csv", usecols=["userId", "movieId", "rating", "timestamp"])
    df = df[df.rating >= 4.0].sort_values("timestamp")
    u = df.userId.astype("category").cat.codes.to_numpy(np.int64)
    i = df.movieId.astype("category").cat.codes.to_numpy(np.int64)
    return torch.from_numpy(u), torch.from_numpy(i)


OPTIMS = {"adam": torch.optim.Adam, "adagrad": torch.optim.Adagrad, "sgd": torch.optim.SGD}


@click.group()
def cli():
    """two-tower recommender"""


@cli.command()
@click.option("--data", type=click.Path(exists=True), required=True)
@click.option("--batch-size", "-b", default=4096, show_default=True)
@click.option("--eval-batch-size", default=1024)
@click.option("--epochs", "-e", default=5, envvar="RECSYS_EPOCHS")
@click.option("--lr", default=1e-3)
@click.option("--optim", type=click.Choice(list(OPTIMS)), default="adam")
@click.option("--dim", default=64)
@click.option("--out", default="artifacts/twotower")
def train(data, batch_size, eval_batch_size, epochs, lr, optim, dim, out):
    u, i = read(data)
    cut = int(len(u) * 0.98)
    net = TwoTower(int(u.max()) + 1, int(i.max()) + 1, dim).cuda()
    opt = OPTIMS[optim](net.parameters(), lr=lr)
    loader = DataLoader(TensorDataset(u[:cut], i[:cut]), batch_size=batch_size, shuffle=True, drop_last=True)
    held = DataLoader(TensorDataset(u[cut:], i[cut:]), batch_size=eval_batch_size)
    for ep in range(epochs):
        net.train()
        for a, b in loader:
            logits = net(a.cuda(), b.cuda())
            loss = F.cross_entropy(logits, torch.arange(len(a), device="cuda"))
            opt.zero_grad()
            loss.backward()
            opt.step()
        click.echo(f"{ep}: {loss.item():.4f} hit@1 {_hit(net, held):.4f}")
    os.makedirs(out, exist_ok=True)
    torch.save(net.state_dict(), os.path.join(out, "model.pt"))


@torch.no_grad()
def _hit(net, loader):
    net.eval()
    ok = n = 0
    for a, b in loader:
        ok += (net(a.cuda(), b.cuda()).argmax(1).cpu() == torch.arange(len(a))).sum().item()
        n += len(a)
    return ok / n


@cli.command()
@click.option("--data", required=True)
@click.option("--model", default="artifacts/twotower/model.pt")
@click.option("--batch-size", default=512)
@click.option("--top", default=100)
def export(data, model, batch_size, top):
    """nearest items of every item, for the shop"""
    u, i = read(data)
    net = TwoTower(int(u.max()) + 1, int(i.max()) + 1)
    net.load_state_dict(torch.load(model))
    with torch.no_grad():
        vec = net.item(torch.arange(int(i.max()) + 1))
        near = [v.topk(top).indices for v in (part @ vec.T for part in vec.split(batch_size))]
    torch.save(torch.cat(near), "artifacts/neighbours.pt")


if __name__ == "__main__":
    cli()
