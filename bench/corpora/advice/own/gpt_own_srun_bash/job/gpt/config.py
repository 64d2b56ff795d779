import os
from dataclasses import dataclass, fields

SIZES = {
    # layers, heads, width
    "tiny": (6, 6, 384),
    "small": (12, 12, 768),
    "medium": (16, 16, 1024),
    "xl": (48, 25, 1600),
}


@dataclass
class Config:
    size: str = "small"
    data: str = "/data/shakespeare"
    out: str = "/checkpoints"
    ctx: int = 2048
    vocab: int = 50304  # 50257 rounded up
    micro: int = 16
    steps: int = 5000
    warmup: int = 700
    lr: float = 6e-4
    wd: float = 0.1
    val_every: int = 250
    val_steps: int = 20
    save_every: int = 1000
    hours: float = 23.5  # leave before the scheduler throws us out

    @classmethod
    def from_argv(cls, argv):
        types = {f.name: f.type for f in fields(cls)}
        conv = {"int": int, "float": float, "str": str, int: int, float: float, str: str}
        kw = {}
        for word in argv:
            k, v = word.split("=", 1)
            kw[k] = conv[types[k]](v)
        return cls(**kw)

    @property
    def layers(self):
        return SIZES[self.size][0]

    @property
    def heads(self):
        return SIZES[self.size][1]

    @property
    def width(self):
        return SIZES[self.size][2]

    def accumulate(self, world):
        tokens = int(os.environ.get("TOKENS_PER_STEP", 524288))
        return tokens // (self.micro * self.ctx * world)
