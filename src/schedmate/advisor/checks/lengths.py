"""A training of no length: `--epochs 0`, `max_steps=0`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.settle.vocabulary import field_of
from schedmate.model import Remark

_LENGTHS = ("epochs", "max_steps")
_TRAINS_NOTHING = ("evaluation", "inference", "preprocessing")


def no_length(checked: Checked) -> Iterator[Remark]:
    """Silent where the job is known not to train, or has a length in another measure."""
    main, workload = checked.launch.main, checked.workload
    trains_nothing = workload.task is not None and workload.task.value in _TRAINS_NOTHING
    if main is None or trains_nothing or workload.epochs or workload.max_steps:
        return
    for name, word in _zeros(main.arguments):
        yield Remark(
            level="warning",
            text=f"{name} is 0, so the job will probably train nothing",
            evidence=word.evidence,
        )
        return


def _zeros(words: tuple[Word, ...]) -> Iterator[tuple[str, Word]]:
    """Options that are called like a length and are 0: `--epochs 0`, `trainer.max_epochs=0`."""
    for option, following in pairwise((Word(""), *words)):
        name, equals, value = following.text.partition("=")
        if not equals:
            name, value = option.text, following.text
            if not name.startswith("-"):
                continue
        found = field_of(name)
        if following.known and value in ("0", "0.0") and found and found[0] in _LENGTHS:
            yield name, following
