import csv

import torch
import torchaudio
from torch.nn.utils.rnn import pad_sequence

from .model import SYMBOLS


class LJ(torch.utils.data.Dataset):
    def __init__(self, root, split):
        with open(root / "metadata.csv", encoding="utf-8") as f:
            rows = list(csv.reader(f, delimiter="|", quoting=csv.QUOTE_NONE))
        self.rows = rows[:-500] if split == "train" else rows[-500:]
        self.root = root
        self.mel = torchaudio.transforms.MelSpectrogram(22050, n_fft=1024, hop_length=256, n_mels=80)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        name, _, text = self.rows[i]
        wav, _ = torchaudio.load(self.root / "wavs" / f"{name}.wav")
        ids = [SYMBOLS.index(c) + 1 for c in text.lower() if c in SYMBOLS]
        return torch.tensor(ids), self.mel(wav)[0].clamp(min=1e-5).log().T


def collate(items):
    text, mel = zip(*items)
    return pad_sequence(text, True), pad_sequence(mel, True)
