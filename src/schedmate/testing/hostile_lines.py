"""Lines that no program should print, made of real ones: for fuzzing a log format."""

from __future__ import annotations

import random
from collections.abc import Sequence

NUMBERS = (
    "0", "-1", "1e308", "1e-400", "9" * 400, "1" + "0" * 5000, "nan", "-inf", "1_000",
    "\u0663\u0664", "\uff11\uff12", "\u00b2", "0x1f", "1.2.3", "1,234,567", "1e9999", "--5", "+",
    ".", "1.", ".5e", "00:00", "99:99:99", "0/0", "5/0", "-3/-4", "1e400/1e400",
    "18446744073709551616",
)  # fmt: skip
"""Digits of other scripts among them: `int` takes them, other readers may not."""
PIECES = (
    "\x00", "\x1b[", "\x1b]8;;", "\b", "\r", "\t", "\ufeff", "\ud800", "\udcff", "█", "\uff05", "|",
    "%|", "[", "]", "{", "}", "(", ")", "'", '"', "\\", ":", "=", ",", "/", "<", ">", "epoch",
    "step", "loss", "it/s", "s/it", "ETA", "eta", "elapsed", "checkpoint", "100%",
    "Traceback (most recent", "NaN", "Infinity", "null", "true", ":::MLLOG ", "https://", "a" * 200,
    " " * 300, "\u202e", "ß",
)  # fmt: skip
REPEATS = (
    "[", "{", "(", "a=", "1/", "1:", "0 ", "epoch ", "loss: ", "=1,", "1.", "e", "-", "\\", "'",
    '"', "%|", "| ", "a b ", "step 1/", "saving ", "checkpoint/", "x: 1 ", "/a", "00:", "[[1",
    '{"a":', "\t", "eta: ", "1 s ", "9", "of ", "val_", "https://a", "['", "time ", "(1/",
    "\x1b[1m", "█", "½",
)  # fmt: skip


def hostile_line(chance: random.Random, samples: Sequence[str]) -> bytes:
    """A line that is real, mutated, spliced of two, repetitive, random, or a heap of pieces."""
    kind = chance.randrange(8)
    if kind == 0:
        return chance.randbytes(chance.choice((5, 80, 3000))).replace(b"\n", b"")
    makers = (_real, _mutated, _mutated, _mutated, _spliced, _repetitive, _heap)
    return makers[kind - 1](chance, samples).encode("utf-8", "replace")


def _real(chance: random.Random, samples: Sequence[str]) -> str:
    return chance.choice(samples)


def _mutated(chance: random.Random, samples: Sequence[str]) -> str:
    """A few things replaced, doubled or cut out."""
    text = chance.choice(samples)[:4000]
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(text))
        end = start + chance.choice((0, 1, 3, 20))
        many = text[start:end] * 30
        new = chance.choice((chance.choice(NUMBERS), chance.choice(PIECES), many, ""))
        text = text[:start] + new + text[end:]
    return text


def _spliced(chance: random.Random, samples: Sequence[str]) -> str:
    one, other = chance.choice(samples)[:2000], chance.choice(samples)[:2000]
    return one[: chance.randint(0, len(one))] + other[chance.randint(0, len(other)) :]


def _repetitive(chance: random.Random, samples: Sequence[str]) -> str:
    """What makes a backtracking expression slow: a long repeat between a beginning and an end."""
    middle = "".join(chance.choice(REPEATS) for _ in range(chance.randint(1, 2)))
    times = chance.choice((50, 500, 5000, 20_000)) // len(middle) + 1
    begin = chance.choice(samples)[: chance.randint(0, 30)]
    return begin + middle * times + chance.choice(("", "!", "]"))


def _heap(chance: random.Random, _: Sequence[str]) -> str:
    parts = (*PIECES, *NUMBERS)
    return "".join(chance.choice(parts)[:400] for _ in range(chance.randint(1, 25)))
