# word level LM, config driven
import math
import os
import sys

import torch
import yaml
from torch import nn

from .corpus import Corpus, batchify

OPTIMS = {'sgd': torch.optim.SGD, 'adam': torch.optim.Adam, 'adagrad': torch.optim.Adagrad}


class LSTMLanguageModel(nn.Module):
    def __init__(self, vocab, hidden, layers, dropout=0.2, kind='lstm'):
        super().__init__()
        self.emb = nn.Embedding(vocab, hidden)
        rnn = {'lstm': nn.LSTM, 'gru': nn.GRU}[kind]
        self.rnn = rnn(hidden, hidden, layers, dropout=dropout)
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(hidden, vocab)
        self.out.weight = self.emb.weight

    def forward(self, x, h=None):
        y, h = self.rnn(self.drop(self.emb(x)), h)
        return self.out(self.drop(y)), h


def detach(h):
    return h.detach() if torch.is_tensor(h) else tuple(detach(v) for v in h)


def run_epoch(model, data, bptt, crit, opt=None, clip=None):
    model.train(opt is not None)
    h, total, n = None, 0.0, 0
    for i in range(0, data.size(0) - 1, bptt):
        x = data[i:i + bptt]
        y = data[i + 1:i + 1 + bptt]
        x = x[:len(y)]
        if h is not None:
            h = detach(h)
        out, h = model(x, h)
        loss = crit(out.flatten(0, 1), y.flatten())
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            opt.step()
        total += loss.item() * len(y)
        n += len(y)
    return total / n


def main(path):
    with open(path) as f:
        cfg = yaml.safe_load(f)
    d, m, t = cfg['data'], cfg['model'], cfg['train']
    corpus = Corpus(d['path'], limit=d['vocab'])
    dev = 'cuda' if torch.cuda.is_available() else 'cpu'
    train = batchify(corpus.train, t['bs']).to(dev)
    valid = batchify(corpus.valid, t.get('eval_bs', 10)).to(dev)

    m = dict(m)
    model = LSTMLanguageModel(d['vocab'], m['hidden'], m['layers'], m['dropout'], m['kind']).to(dev)
    o = dict(t['opt'])
    opt = OPTIMS[o.pop('name')](model.parameters(), **o)
    crit = nn.CrossEntropyLoss()
    os.makedirs(t['save'], exist_ok=True)

    best, wait = math.inf, 0
    for epoch in range(t['max_epoch']):
        tr = run_epoch(model, train, d['bptt'], crit, opt, t['clip'])
        with torch.no_grad():
            va = run_epoch(model, valid, d['bptt'], crit)
        print('epoch %d train ppl %.2f valid ppl %.2f' % (epoch, math.exp(tr), math.exp(va)))
        torch.save(model.state_dict(), os.path.join(t['save'], 'last.pt'))
        if va < best:
            best, wait = va, 0
            torch.save(model.state_dict(), os.path.join(t['save'], 'best.pt'))
        else:
            wait += 1
        if wait > t['patience']:
            break


if __name__ == '__main__':
    main(sys.argv[1])
