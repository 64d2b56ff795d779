import glob
import os

import torch
from torchvision.io import read_image


class VisDrone(torch.utils.data.Dataset):
    def __init__(self, root, split):
        self.images = sorted(glob.glob(os.path.join(root, f"VisDrone2019-DET-{split}", "images", "*.jpg")))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        path = self.images[i]
        rows = [r.split(",") for r in open(path.replace("images", "annotations").replace(".jpg", ".txt"))]
        box = torch.tensor([[float(v) for v in r[:4]] for r in rows if r[4] == "1"]).reshape(-1, 4)
        box[:, 2:] += box[:, :2]
        label = torch.tensor([int(r[5]) for r in rows if r[4] == "1"])
        return read_image(path).float() / 255, {"boxes": box, "labels": label}


def collate(b):
    return list(zip(*b))
