import os
from collections import Counter

import torch


class Corpus:
    def __init__(self, path, limit=50000):
        words = self._read(os.path.join(path, 'train.txt'))
        common = [w for w, _ in Counter(words).most_common(limit - 1)]
        self.index = {w: i + 1 for i, w in enumerate(common)}
        self.train = self._ids(words)
        self.valid = self._ids(self._read(os.path.join(path, 'valid.txt')))
        self.test = self._ids(self._read(os.path.join(path, 'test.txt')))

    def _read(self, p):
        with open(p, encoding='utf8') as f:
            return [w for line in f for w in line.split() + ['<eos>']]

    def _ids(self, words):
        return torch.tensor([self.index.get(w, 0) for w in words])


def batchify(ids, bs):
    n = ids.size(0) // bs
    return ids[:n * bs].view(bs, -1).t().contiguous()
