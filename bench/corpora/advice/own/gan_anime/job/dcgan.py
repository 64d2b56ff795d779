import os
import torch
import torch.nn as nn
import torchvision
from torchvision import transforms, utils

# %% hyperparameters
dataroot = "/datasets/anime_faces"
batch_size = int(os.environ["BS"])
image_size = 64
nz, ngf, ndf = 100, 64, 64
num_epochs = 250
lr_g = 2e-4
lr_d = 1e-4     # TTUR
beta1 = 0.5
n_sample = 64   # pictures for the grid
out = "gan_out"
os.makedirs(out + "/models", exist_ok=True)

# %% data
ds = torchvision.datasets.ImageFolder(dataroot, transforms.Compose([
    transforms.Resize(image_size), transforms.CenterCrop(image_size),
    transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)]))
dl = torch.utils.data.DataLoader(ds, batch_size=batch_size, shuffle=True, num_workers=4, drop_last=True)
device = "cuda:0"


# %% networks
def init(m):
    if "Conv" in m.__class__.__name__:
        nn.init.normal_(m.weight, 0, 0.02)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        w = [nz, ngf * 8, ngf * 4, ngf * 2, ngf]
        mods = []
        for i, (a, b) in enumerate(zip(w, w[1:])):
            mods += [nn.ConvTranspose2d(a, b, 4, 1 if i == 0 else 2, 0 if i == 0 else 1, bias=False),
                     nn.BatchNorm2d(b), nn.ReLU(True)]
        self.main = nn.Sequential(*mods, nn.ConvTranspose2d(ngf, 3, 4, 2, 1), nn.Tanh())

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        w = [3, ndf, ndf * 2, ndf * 4, ndf * 8]
        mods = []
        for a, b in zip(w, w[1:]):
            mods += [nn.utils.spectral_norm(nn.Conv2d(a, b, 4, 2, 1, bias=False)), nn.LeakyReLU(0.2, True)]
        self.main = nn.Sequential(*mods, nn.Conv2d(ndf * 8, 1, 4))

    def forward(self, x):
        return self.main(x).flatten()


G, D = Generator().to(device).apply(init), Discriminator().to(device).apply(init)
opt_g = torch.optim.Adam(G.parameters(), lr=lr_g, betas=(beta1, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=lr_d, betas=(beta1, 0.999))
bce = nn.BCEWithLogitsLoss()
fixed = torch.randn(n_sample, nz, 1, 1, device=device)

# %% training
for epoch in range(num_epochs):
    for i, (real, _) in enumerate(dl):
        real = real.to(device)
        one, zero = torch.ones(len(real), device=device), torch.zeros(len(real), device=device)
        fake = G(torch.randn(len(real), nz, 1, 1, device=device))
        loss_d = bce(D(real), one * 0.9) + bce(D(fake.detach()), zero)
        opt_d.zero_grad(); loss_d.backward(); opt_d.step()
        loss_g = bce(D(fake), one)
        opt_g.zero_grad(); loss_g.backward(); opt_g.step()
        if i % 50 == 0:
            print(f"[{epoch}/{num_epochs}][{i}/{len(dl)}] D {loss_d.item():.3f} G {loss_g.item():.3f}")
    with torch.no_grad():
        utils.save_image(G(fixed), f"{out}/{epoch:03d}.png", nrow=8, normalize=True)
    if (epoch + 1) % 25 == 0:
        torch.save({"G": G.state_dict(), "D": D.state_dict()}, f"{out}/models/{epoch + 1}.pt")
