from dataclasses import dataclass, field
from pathlib import Path

import torch
import torchvision
from omegaconf import OmegaConf
from torch import nn
from torch.nn import functional as F


@dataclass
class Train:
    batch: int = 64
    epochs: int = 10
    lr: float = 1e-3
    beta: float = 1.0
    amp: bool = True


@dataclass
class Save:
    root: str = "work"
    every: int = 1


@dataclass
class Config:
    dataset: str = "celeba"
    root: str = "/srv/data"
    size: int = 64
    latent: int = 128
    train: Train = field(default_factory=Train)
    save: Save = field(default_factory=Save)
    test_batch: int = 500


class ConvVAE(nn.Module):
    def __init__(self, size, latent, widths=(32, 64, 128, 256)):
        super().__init__()
        enc, c = [], 3
        for w in widths:
            enc += [nn.Conv2d(c, w, 4, 2, 1), nn.BatchNorm2d(w), nn.LeakyReLU(0.2)]
            c = w
        self.enc = nn.Sequential(*enc, nn.Flatten())
        side = size // 2 ** len(widths)
        self.shape = (c, side, side)
        self.mu, self.logvar = (nn.Linear(c * side * side, latent) for _ in range(2))
        self.lift = nn.Linear(latent, c * side * side)
        dec = []
        for w in reversed((3,) + tuple(widths[:-1])):
            dec += [nn.ConvTranspose2d(c, w, 4, 2, 1), nn.BatchNorm2d(w), nn.LeakyReLU(0.2)]
            c = w
        self.dec = nn.Sequential(*dec[:-2], nn.Sigmoid())

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(self.lift(z).view(-1, *self.shape)), mu, logvar


def load_config():
    cli = OmegaConf.from_cli()
    path = cli.pop("cfg", None)
    parts = [OmegaConf.structured(Config)]
    if path:
        parts.append(OmegaConf.load(path))
    return OmegaConf.merge(*parts, cli)


def main():
    c = load_config()
    tf = torchvision.transforms.Compose([
        torchvision.transforms.CenterCrop(148),
        torchvision.transforms.Resize(c.size),
        torchvision.transforms.ToTensor(),
    ])
    sets = {s: torchvision.datasets.CelebA(c.root, s, transform=tf) for s in ("train", "valid")}
    load = torch.utils.data.DataLoader(sets["train"], c.train.batch, shuffle=True, num_workers=8)
    test = torch.utils.data.DataLoader(sets["valid"], c.test_batch)

    net = ConvVAE(c.size, c.latent).cuda()
    opt = torch.optim.Adam(net.parameters(), c.train.lr)
    scaler = torch.cuda.amp.GradScaler(enabled=c.train.amp)
    where = Path(c.save.root) / "vae"
    where.mkdir(parents=True, exist_ok=True)

    for epoch in range(1, c.train.epochs + 1):
        net.train()
        for x, _ in load:
            x = x.cuda()
            with torch.cuda.amp.autocast(c.train.amp):
                y, mu, logvar = net(x)
                rec = F.mse_loss(y, x, reduction="sum") / len(x)
                kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
                loss = rec + c.train.beta * kl
            opt.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
        net.eval()
        with torch.no_grad():
            v = sum(F.mse_loss(net(x.cuda())[0], x.cuda()).item() for x, _ in test) / len(test)
        print(f"epoch {epoch} loss {loss.item():.2f} val {v:.5f}")
        if epoch % c.save.every == 0:
            torch.save(net.state_dict(), where / f"{epoch:04d}.pt")


if __name__ == "__main__":
    main()
