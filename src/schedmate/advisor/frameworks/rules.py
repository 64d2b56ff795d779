"""Rules that tables of frameworks are made of: how settings become the value of a field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from schedmate.advisor.frameworks.calls import is_of, last_name
from schedmate.advisor.frameworks.contract import Rule, Settings, is_on, restated, stated
from schedmate.advisor.interpret.python.values import Sequence, Table, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs.building import value_of

Convert = Callable[[Value], Value | None]
_NO_NAMES = frozenset({"", ".", "..", "data", "data-bin", "dataset", "datasets", "train"})


def of_program(data: str, *because: str) -> Rule:
    """What follows from which program is started, and from these settings."""

    def rule(settings: Settings) -> Value | None:
        return by_program(settings, data, *because) if settings.started else None

    return rule


def by_program(settings: Settings, data: Any, *because: str) -> Value:
    found = [settings.first(names) for names in because]
    lines = [line for value in found if value is not None for line in value.lines[:1]]
    imported = [
        each.line
        for each in settings.reading.trace.imports
        if isinstance(data, str) and data in each.name.partition(".")[0]
    ]
    command = settings.reading.run.command.evidence
    return Value(data, tuple(dict.fromkeys((*lines, *command, *imported[:1]))), "derived")


def converted(convert: Convert, names: str) -> Rule:
    def rule(settings: Settings) -> Value | None:
        value = settings.first(names)
        return None if value is None else convert(value)

    return rule


def at_least(least: float, names: str) -> Rule:
    """A number that means something only from there on: `save_period=-1` is none."""

    def convert(value: Value) -> Value | None:
        number = value.data
        counts = isinstance(number, (int, float)) and not isinstance(number, bool)
        return value if counts and number >= least else None

    return converted(convert, names)


def switched(switches: Mapping[str, Any]) -> Rule:
    """The first switch that is on decides: `bf16: true`."""

    def rule(settings: Settings) -> Value | None:
        for name, data in switches.items():
            value = settings.get(name)
            if value is not None and is_on(value):
                return restated(value, data)
        return None

    return rule


def chosen(names: str, meanings: Mapping[str, Any]) -> Rule:
    """A setting's word by what it means here; any other word says nothing."""

    def convert(value: Value) -> Value | None:
        data = meanings.get(str(value.data))
        return None if data is None else restated(value, data)

    return converted(convert, names)


def either(*rules: str | Rule) -> Rule:
    """The first rule that knows, or the first of the named settings that is stated."""

    def rule(settings: Settings) -> Value | None:
        found = (
            settings.first(each) if isinstance(each, str) else each(settings) for each in rules
        )
        return next((value for value in found if value is not None), None)

    return rule


def present(names: str, data: str) -> Rule:
    """A section that is there and not empty: `fsdp_config: {…}`."""

    def rule(settings: Settings) -> Value | None:
        for name in names.split():
            value = settings.get(name)
            if value is not None and _holds_something(value):
                return restated(value, data)
        return None

    return rule


def _holds_something(value: Value) -> bool:
    if isinstance(value.data, Table):
        return bool(value.data.parts)
    if isinstance(value.data, Sequence):
        return bool(value.data.items)
    return stated(value) is not None and value.data is not False


def model_parallel(tensor: str, pipeline: str) -> Rule:
    """Degrees of tensor and pipeline parallelism: `tp`, `pp`, or `3d` with both."""

    def rule(settings: Settings) -> Value | None:
        degrees = [
            (way, value)
            for way, names in (("tp", tensor), ("pp", pipeline))
            if (value := settings.first(names)) is not None and number(value) > 1
        ]
        if not degrees:
            return None
        way = "3d" if len(degrees) > 1 else degrees[0][0]
        lines = tuple(line for _, value in degrees for line in value.lines)
        return Value(way, lines, degrees[0][1].source)

    return rule


def by_name(pattern: str, data: Any = None, *packages: str) -> Rule:
    """What a call whose name fits states by being made; its own name where `data` is None."""
    fits = re.compile(pattern).fullmatch

    def rule(settings: Settings) -> Value | None:
        name = last_name(settings.callee)
        if not fits(name) or (packages and not is_of(settings.callee, *packages)):
            return None
        return settings.implied(name if data is None else data)

    return rule


def positional(place: int, names: str) -> Rule:
    """A word of the command line that is no option, or a setting."""

    def rule(settings: Settings) -> Value | None:
        if settings.started and len(settings.words) > place:
            return value_of(settings.words[place])
        return settings.first(names)

    return rule


def counted(unit: str, names: str) -> Rule:
    """`10ep` are ten epochs, `4800ba` steps: the number where the unit is this one."""
    pattern = re.compile(rf"(\d{{1,15}}){unit}")

    def convert(value: Value) -> Value | None:
        match = pattern.fullmatch(str(value.data))
        return None if match is None else restated(value, int(match[1]))

    return converted(convert, names)


def resumption(names: str) -> Rule:
    """Whether it goes on from its newest checkpoint: null and false say that it does not, and one
    that somebody named is the same after each requeue."""

    def rule(settings: Settings) -> Value | None:
        for name in names.split():
            value = settings.get(name)
            if value is not None and value.plain:
                newest = ("true", "1", "auto", "last", "latest", "hpc")
                return restated(value, str(value.data).strip().lower() in newest)
        return None

    return rule


def number(value: Value | None) -> float:
    """A number, also as a word of a command line; 0 where it is none."""
    try:
        return 0.0 if value is None else float(value.data)
    except (TypeError, ValueError, OverflowError):
        return 0.0


def text(value: Value) -> str | None:
    data = value.data
    return data.strip() if isinstance(data, str) else None


def last_part(value: Value) -> Value | None:
    """`torch.optim.AdamW` is AdamW."""
    found = text(value)
    return None if found is None else restated(value, found.rpartition(".")[2])


def stem(value: Value) -> Value | None:
    """`weights/yolov8n.pt` is yolov8n."""
    found = text(value)
    return None if not found else restated(value, PurePosixPath(found).stem)


def of_path(value: Value) -> Value | None:
    """A path by its last part; a name with one slash, as hubs have them, as it stands."""
    found = text(value)
    if found is None:
        return None
    is_path = found.startswith(("/", ".", "~")) or found.count("/") > 1
    return directory_name(value) if is_path else value


def directory_name(value: Value) -> Value | None:
    """`data-bin/wikitext-103` is wikitext-103; `data` says nothing."""
    found = text(value)
    name = "" if found is None else PurePosixPath(found).name
    return None if name.lower() in _NO_NAMES else restated(value, name)


def single(name: str) -> Rule:
    """`[0.0001]` is one value; several are none."""

    def rule(settings: Settings) -> Value | None:
        value = settings.get(name)
        if value is not None and isinstance(value.data, Sequence):
            items = value.data.items
            return stated(items[0]) if len(items) == 1 and value.data.complete else None
        return stated(value)

    return rule


def program_name(run: PythonRun) -> str:
    """`-m openrlhf.cli.train_sft` and `openrlhf/cli/train_sft.py` are both train_sft."""
    return re.split(r"[./ ]", run.entry.name.removesuffix(".py"))[-1]
