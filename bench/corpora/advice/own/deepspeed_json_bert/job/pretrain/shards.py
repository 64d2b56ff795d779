import glob
import random

import numpy as np
import torch
from torch.utils.data import Dataset

MASK, VOCAB = 103, 30522


class PubmedShards(Dataset):
    """memory-mapped uint16 tokens, cut into pieces"""

    def __init__(self, root, seq, p=0.15):
        self.files = sorted(glob.glob(f"{root}/*.bin"))
        self.seq, self.p = seq, p
        self.maps = [np.memmap(f, dtype=np.uint16, mode="r") for f in self.files]
        self.order = [(i, j) for i, m in enumerate(self.maps) for j in range(len(m) // seq)]

    def shuffle(self, seed):
        random.Random(seed).shuffle(self.order)

    def __len__(self):
        return len(self.order)

    def __getitem__(self, n):
        i, j = self.order[n]
        ids = torch.from_numpy(self.maps[i][j * self.seq:(j + 1) * self.seq].astype(np.int64))
        labels = ids.clone()
        pick = torch.rand(len(ids)) < self.p
        labels[~pick] = -100
        ids[pick] = MASK
        return {"input_ids": ids, "labels": labels, "attention_mask": torch.ones_like(ids)}
