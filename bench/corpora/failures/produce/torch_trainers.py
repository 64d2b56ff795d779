"""A small network in torch, as the part of a training program that fails."""

from __future__ import annotations

from bench.corpora.failures.produce.trainers import trainer

_NET = """import os
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3)


def batch(n=32, width=64):
    return torch.randn(n, width), torch.randint(0, 10, (n,))


def learn(x, y):
    loss = nn.functional.cross_entropy(net(x), y)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.item()


"""


def torch_trainer(style: str, task: str, **files: str) -> dict[str, str]:
    return trainer(style, _NET + task, **files)


def failing_at(number: int, bad: str, otherwise: str = "learn(*batch())") -> str:
    return f"def step(state, i):\n    if i == {number}:\n        {bad}\n    return {otherwise}"
