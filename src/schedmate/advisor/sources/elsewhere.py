"""Paths of another machine: a job names its project by where it lies there.

`/home/someone/project/configs/a.yaml` means the `configs/a.yaml` of this job, if it has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

_MAX_ENDS = 8
_VARIABLE = frozenset("$`~")
_OF_OTHERS = frozenset(
    (
        *("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"),
        *("preprocessor_config.json", "special_tokens_map.json", "adapter_config.json"),
        *("model_index.json", "vocab.json", "__init__.py", "index.json"),
    )
)
"""Names of files that every model, dataset or package has: alone they say nothing."""


def known_end(text: str) -> list[str]:
    """The parts of a path behind the last variable in it."""
    parts = [part for part in text.split("/") if part not in ("", ".")]
    last = max((index for index, part in enumerate(parts) if set(part) & _VARIABLE), default=-1)
    ends = parts[last + 1 :]
    return [] if ".." in ends else ends


def ends(text: str) -> Iterator[str]:
    """What a path may be below the project: its ends, the longest first."""
    parts = known_end(text)
    for first in range(max(0, len(parts) - _MAX_ENDS), len(parts)):
        yield "/".join(parts[first:])


def ends_of_file(text: str) -> Iterator[str]:
    """Those by which a config of the job may be meant."""
    return (end for end in ends(text) if "/" in end or end not in _OF_OTHERS)


def is_elsewhere(text: str) -> bool:
    """Whether a path starts from a place that only the other machine has."""
    return PurePosixPath(text).is_absolute() or text.startswith(("~", "$"))
