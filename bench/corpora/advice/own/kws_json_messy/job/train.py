# OLD!! use train2.py
import argparse
import torch
import torchaudio
from torch import nn
p = argparse.ArgumentParser()
p.add_argument('--epochs', type=int, default=10)
p.add_argument('--lr', type=float, default=0.1)
p.add_argument('--bs', type=int, default=64)
a = p.parse_args()
net = nn.Sequential(nn.Conv1d(1, 32, 80, 16), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 35))
opt = torch.optim.SGD(net.parameters(), lr=a.lr)
ds = torchaudio.datasets.SPEECHCOMMANDS('data', subset='training')
for e in range(a.epochs):
    for i in torch.randperm(len(ds)).split(a.bs):
        pass
