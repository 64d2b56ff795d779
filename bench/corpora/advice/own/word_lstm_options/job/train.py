import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description="Language model on Wikitext-2")
parser.add_argument("--model", default="LSTM", help="RNN_TANH, RNN_RELU, LSTM, GRU or Transformer")
parser.add_argument("--emsize", type=int, default=200)
parser.add_argument("--nhid", type=int, default=200)
parser.add_argument("--nlayers", type=int, default=2)
parser.add_argument("--nhead", type=int, default=2, help="heads of the Transformer")
parser.add_argument("--lr", type=float, default=20)
parser.add_argument("--epochs", type=int, default=40)
parser.add_argument("--batch_size", type=int, default=20)
parser.add_argument("--bptt", type=int, default=35)
parser.add_argument("--save", default="model.pt")
args = parser.parse_args()


class RNNModel(nn.Module):
    def __init__(self, kind, tokens, width, hidden, layers):
        super().__init__()
        self.encoder = nn.Embedding(tokens, width)
        self.rnn = getattr(nn, kind)(width, hidden, layers)
        self.decoder = nn.Linear(hidden, tokens)

    def forward(self, text):
        return self.decoder(self.rnn(self.encoder(text))[0])


def batches():
    data = torch.load("data/wikitext-2/train.pt")
    for start in range(0, data.size(0) - 1, args.bptt):
        yield data[start : start + args.bptt], data[start + 1 : start + 1 + args.bptt]


tokens = len(open("data/wikitext-2/vocab.txt").readlines())
model = RNNModel(args.model, tokens, args.emsize, args.nhid, args.nlayers).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
for epoch in range(args.epochs):
    for text, target in batches():
        optimizer.zero_grad()
        loss = criterion(model(text).view(-1, tokens), target.view(-1))
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), args.save)
