"""A small Tacotron-like text-to-speech model with attention blocks for the encoder."""
import torch
from torch import nn

SYMBOLS = " abcdefghijklmnopqrstuvwxyz'.,?!-"


class TacoLite(nn.Module):
    def __init__(self, width=512, layers=3, heads=8, mels=80):
        super().__init__()
        self.emb = nn.Embedding(len(SYMBOLS) + 1, width, padding_idx=0)
        enc = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
        self.enc = nn.TransformerEncoder(enc, layers)
        self.pre = nn.Sequential(nn.Linear(mels, width), nn.ReLU(), nn.Dropout(0.5))
        self.att = nn.MultiheadAttention(width, heads, batch_first=True)
        self.rnn = nn.LSTM(2 * width, width, 2, batch_first=True)
        self.mel, self.gate = nn.Linear(width, mels), nn.Linear(width, 1)

    def forward(self, text, mel):
        memory = self.enc(self.emb(text))
        q = self.pre(torch.cat([torch.zeros_like(mel[:, :1]), mel[:, :-1]], 1))
        c, _ = self.att(q, memory, memory)
        h, _ = self.rnn(torch.cat([q, c], -1))
        return self.mel(h), self.gate(h).squeeze(-1)
