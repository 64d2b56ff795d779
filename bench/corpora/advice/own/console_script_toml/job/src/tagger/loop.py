"""The training loop of the named-entity tagger."""
from pathlib import Path

import torch
from seqeval.metrics import f1_score
from torch.utils.data import DataLoader
from transformers import AutoModelForTokenClassification, AutoTokenizer

from tagger.conll import Sentences, pad


def run(cfg):
    torch.manual_seed(cfg["train"]["seed"])
    labels = cfg["data"]["labels"]
    tok = AutoTokenizer.from_pretrained(cfg["encoder"])
    net = AutoModelForTokenClassification.from_pretrained(cfg["encoder"], num_labels=len(labels)).cuda()

    def load(split, size, shuffle=False):
        data = Sentences(Path(cfg["data"]["corpus"]) / f"{split}.txt", tok, labels, cfg["data"]["max_tokens"])
        return DataLoader(data, batch_size=size, shuffle=shuffle, collate_fn=pad)

    train = load("train", cfg["train"]["batch_size"], True)
    dev = load("dev", cfg["dev"]["batch_size"])
    options = dict(cfg["train"]["optimizer"])
    optimizer = getattr(torch.optim, options.pop("name"))(net.parameters(), **options)

    best, seen = -1.0, 0
    for epoch in range(cfg["train"]["epochs"]):
        for batch in train:
            net.train()
            loss = net(**{k: v.cuda() for k, v in batch.items()}).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += 1
            if seen % cfg["dev"]["every"] == 0:
                f1 = score(net, dev, labels)
                print(f"epoch {epoch} step {seen} loss {loss.item():.4f} dev f1 {f1:.4f}")
                if f1 > best:
                    best = f1
                    net.save_pretrained(cfg["output"])
                    tok.save_pretrained(cfg["output"])


@torch.no_grad()
def score(net, loader, labels):
    net.eval()
    gold, said = [], []
    for batch in loader:
        out = net(**{k: v.cuda() for k, v in batch.items() if k != "labels"}).logits.argmax(-1).cpu()
        for g, p in zip(batch["labels"], out):
            keep = g != -100
            gold.append([labels[i] for i in g[keep]])
            said.append([labels[i] for i in p[keep]])
    return f1_score(gold, said)
