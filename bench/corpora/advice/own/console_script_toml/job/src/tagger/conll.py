import torch
from torch.nn.utils.rnn import pad_sequence


class Sentences(torch.utils.data.Dataset):
    def __init__(self, path, tok, labels, limit):
        self.items = []
        for part in path.read_text("utf-8").split("\n\n"):
            rows = [r.split() for r in part.splitlines() if r and not r.startswith("-DOCSTART-")]
            if not rows:
                continue
            enc = tok([r[0] for r in rows], is_split_into_words=True, truncation=True, max_length=limit)
            tags, last = [], None
            for w in enc.word_ids():
                tags.append(-100 if w is None or w == last else labels.index(rows[w][-1]))
                last = w
            self.items.append((torch.tensor(enc["input_ids"]), torch.tensor(tags)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def pad(items):
    ids, tags = zip(*items)
    x = pad_sequence(ids, True)
    return {"input_ids": x, "attention_mask": (x != 0).long(), "labels": pad_sequence(tags, True, -100)}
