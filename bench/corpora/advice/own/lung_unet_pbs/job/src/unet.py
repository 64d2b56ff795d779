import torch
import torch.nn as nn


def block(i, o):
    return nn.Sequential(
        nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(True),
        nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(True),
    )


class UNet(nn.Module):
    def __init__(self, c_in, c_out, base=32, depth=4):
        super().__init__()
        ws = [base * 2 ** i for i in range(depth + 1)]
        self.down = nn.ModuleList([block(c_in, ws[0])] + [block(a, b) for a, b in zip(ws, ws[1:])])
        self.up = nn.ModuleList([nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(ws, ws[1:])][::-1])
        self.dec = nn.ModuleList([block(b, a) for a, b in zip(ws, ws[1:])][::-1])
        self.head = nn.Conv2d(ws[0], c_out, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        skips = []
        for i, d in enumerate(self.down):
            x = d(x if i == 0 else self.pool(x))
            skips.append(x)
        skips.pop()
        for u, d in zip(self.up, self.dec):
            x = d(torch.cat([u(x), skips.pop()], 1))
        return self.head(x)
