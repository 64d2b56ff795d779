import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from corpus import TaggedSentences


class Tagger(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.words = nn.Embedding(32000, 384)
        layer = nn.TransformerEncoderLayer(d_model=384, nhead=6, dim_feedforward=1536)
        self.encoder = nn.TransformerEncoder(layer, num_layers=4)
        self.out = nn.Linear(384, tags)

    def forward(self, sentence):
        hidden = self.words(sentence) * math.sqrt(384)
        return self.out(self.encoder(hidden))


def main():
    data = TaggedSentences("data/conll2003/train.txt", longest=128)
    loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=4)
    model = Tagger(len(data.tags)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01)
    loss_of = nn.CrossEntropyLoss(ignore_index=-1)
    for epoch in range(12):
        for sentences, tags in loader:
            optimizer.zero_grad()
            loss = loss_of(model(sentences.cuda()).flatten(0, 1), tags.cuda().flatten())
            loss.backward()
            optimizer.step()
        torch.save({"model": model.state_dict(), "epoch": epoch}, f"runs/tagger/{epoch}.pt")


if __name__ == "__main__":
    main()
