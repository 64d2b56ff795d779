import csv
from collections import defaultdict

import lightning as L
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.io import read_image


class WheatHeads(Dataset):
    def __init__(self, root, split):
        boxes = defaultdict(list)
        with open(root / f"{split}.csv") as f:
            for row in csv.DictReader(f):
                boxes[row["image"]].append([float(row[k]) for k in ("x0", "y0", "x1", "y1")])
        self.root, self.items = root, sorted(boxes.items())

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        name, box = self.items[i]
        image = read_image(str(self.root / "images" / name)).float() / 255
        return image, {"boxes": torch.tensor(box), "labels": torch.ones(len(box), dtype=torch.long)}


def collate(batch):
    return tuple(zip(*batch))


class WheatData(L.LightningDataModule):
    def __init__(self, root, batch_size=2, workers=4):
        super().__init__()
        self.root, self.bs, self.workers = root, batch_size, workers

    def _loader(self, split, bs, shuffle=False):
        return DataLoader(WheatHeads(self.root, split), batch_size=bs, shuffle=shuffle,
                          num_workers=self.workers, collate_fn=collate)

    def train_dataloader(self):
        return self._loader("train", self.bs, True)

    def val_dataloader(self):
        return self._loader("val", 1)
