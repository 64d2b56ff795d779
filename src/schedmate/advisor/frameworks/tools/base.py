"""The contract of a tool, and how it says what its config means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Sequence, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

Tool = Callable[[PythonRun, Context], Iterator[Claim]]
"""What a run of the tool will do, from its command line and the config named there. Says what is
stated, never the tool's own defaults; never raises."""

Reader = Callable[[str], Value | None]
_TRUE = frozenset({"true", "yes", "on", "1"})
_SAYS_NOTHING = frozenset({"", ".", "..", "data", "data-bin", "dataset", "datasets", "train"})
_OPEN = frozenset({"auto", "???", "", "none", "null"})


def told(config: Value, names: Mapping[str, str]) -> Iterator[Claim]:
    """Fields by the dotted names of settings; of several the first that is stated counts."""
    for field, keys in names.items():
        value = first(config, keys)
        if value is not None:
            yield Claim(field=field, value=value)


def first(config: Value, keys: str) -> Value | None:
    """The first of these settings that has a plain value: not null, not `auto`, not `???`."""
    for key in keys.split():
        value = stated(select(config, key))
        if value is not None:
            return value
    return None


def stated(value: Value | None) -> Value | None:
    if value is None or not value.plain or value.data is None:
        return None
    return None if isinstance(value.data, str) and value.data.strip().lower() in _OPEN else value


def is_true(value: Value | None) -> bool:
    """Whether a switch is on; on a command line it is a word."""
    if value is None or not value.plain:
        return False
    return value.data is True or str(value.data).strip().lower() in _TRUE


def switched(config: Value, field: str, switches: Mapping[str, Any]) -> Iterator[Claim]:
    """A field that the first switch that is on decides: `bf16: true`."""
    for name, data in switches.items():
        value = select(config, name)
        if value is not None and is_true(value):
            yield Claim(field=field, value=renamed(value, data))
            return


def renamed(value: Value, data: Any) -> Value:
    """The same statement, as the record puts it."""
    return Value(data, value.lines, value.source)


def known_by(run: PythonRun, field: str, data: Any, *because: Value | None) -> Claim:
    """What follows from which program it is, and from what it is told."""
    told = [line for value in because if value is not None for line in value.lines[:1]]
    lines = tuple(dict.fromkeys((*told, *run.command.evidence)))
    return Claim(field=field, value=Value(data, lines, "derived"), line=next(iter(lines), None))


def program_of(run: PythonRun) -> str:
    """`-m openrlhf.cli.train_sft` and `openrlhf/cli/train_sft.py` are both train_sft."""
    return re.split(r"[./ ]", run.entry.name.removesuffix(".py"))[-1]


def last_part(value: Value | None, separator: str = ".") -> Value | None:
    """`torch.optim.AdamW` is AdamW."""
    found = stated(value)
    if found is None or not isinstance(found.data, str):
        return None
    return renamed(found, found.data.strip().rpartition(separator)[2])


def stem(value: Value | None) -> Value | None:
    """`weights/yolov8n.pt` is yolov8n."""
    found = stated(value)
    if found is None or not isinstance(found.data, str):
        return None
    return renamed(found, PurePosixPath(found.data).stem)


def of_path(value: Value | None) -> Value | None:
    """A path by its last part; a name with one slash, as hubs have them, as it stands."""
    found = stated(value)
    if found is None or not isinstance(found.data, str):
        return None
    text = found.data.strip()
    is_path = text.startswith(("/", ".", "~")) or text.count("/") > 1
    return directory_name(found) if is_path else found


def directory_name(value: Value | None) -> Value | None:
    """`data-bin/wikitext-103` is wikitext-103; `data` says nothing."""
    found = stated(value)
    if found is None or not isinstance(found.data, str):
        return None
    name = PurePosixPath(found.data.strip()).name
    return None if name.lower() in _SAYS_NOTHING else renamed(found, name)


def only_one(value: Value | None) -> Value | None:
    """`[0.0001]` is one value; several are none."""
    if value is not None and isinstance(value.data, Sequence):
        items = value.data.items
        return stated(items[0]) if len(items) == 1 and value.data.complete else None
    return stated(value)


def saying(field: str, value: Value | None) -> Iterator[Claim]:
    if value is not None:
        yield Claim(field=field, value=value)
