from torch.utils.data import Dataset


class TaggedSentences(Dataset):
    def __init__(self, path, longest):
        self.sentences = open(path).read().split("\n\n")
        self.longest = longest
        self.tags = sorted({line.split()[-1] for line in self.sentences[0].splitlines()})

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, index):
        return self.sentences[index][: self.longest]
