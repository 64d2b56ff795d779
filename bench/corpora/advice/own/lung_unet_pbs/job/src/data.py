import glob
import os

import numpy as np
import torch
from torch.utils.data import Dataset


class LungSlices(Dataset):
    def __init__(self, root):
        self.imgs = sorted(glob.glob(os.path.join(root, 'img', '*.npy')))
        self.root = root

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, i):
        p = self.imgs[i]
        img = np.load(p).astype('float32')
        mask = np.load(p.replace('/img/', '/mask/')).astype('float32')
        img = np.clip((img + 1000) / 1400, 0, 1)
        return torch.from_numpy(img)[None], torch.from_numpy(mask)[None]
