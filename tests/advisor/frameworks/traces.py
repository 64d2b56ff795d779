"""Small traces put together by hand, as the evaluator would leave them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from schedmate.advisor.frameworks.base import Reader, Reading
from schedmate.advisor.interpret.python.trace import Binding, Loop, Trace
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    LibraryObject,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.run import Entry, PythonRun
from schedmate.advisor.settle.claim import Claim
from schedmate.model import Evidence


def at(line: int = 1, text: str = "", file: str = "train.py") -> Evidence:
    return Evidence(file, line, text)


def val(data: Any, line: int = 1) -> Value:
    """Plain data, dicts and lists as values; `...` is an unknown value."""
    if isinstance(data, Value):
        return data
    if isinstance(data, dict):
        return Value(Table({name: val(part, line) for name, part in data.items()}))
    if isinstance(data, list):
        return Value(Sequence([val(item, line) for item in data]))
    return Value(data, (at(line),))


def named(dotted: str) -> Value:
    return Value(Dotted(dotted))


def thing(call: Call) -> Value:
    return Value(LibraryObject(call))


def made(callee: str, *positional: Any, **keywords: Any) -> Call:
    """A call; what begins with an underscore is about the call itself: `_target="loader"`."""
    about = {name[1:]: keywords.pop(name) for name in list(keywords) if name.startswith("_")}
    return Call(
        callee=callee,
        positional=tuple(val(each) for each in positional),
        keywords={name: val(each) for name, each in keywords.items()},
        line=about.pop("line", at(9)),
        **about,
    )


def run(*launchers: str, arguments: Iterable[str] = ()) -> PythonRun:
    return PythonRun(
        entry=Entry(name="train.py", source=None, import_root=Path()),
        arguments=tuple(Word(text, (at(1, text, "job.sh"),)) for text in arguments),
        command=Word("train.py"),
        launchers=launchers,
    )


def reading(
    *calls: Call,
    loops: Iterable[Loop] = (),
    bindings: Iterable[Binding] = (),
    options: dict[str, Any] | None = None,
    launchers: tuple[str, ...] = (),
    configs: dict[str, Any] | None = None,
    arguments: Iterable[str] = (),
) -> Reading:
    trace = Trace(calls=list(calls), loops=list(loops), bindings=list(bindings))
    files = {path: val(data) for path, data in (configs or {}).items()}
    return Reading(
        run=run(*launchers, arguments=arguments),
        trace=trace,
        options={name: val(value) for name, value in (options or {}).items()},
        read_config=files.get,
    )


def sayings(reader: Reader, read: Reading) -> list[Claim]:
    return list(reader(read))


def said(reader: Reader, read: Reading) -> dict[str, Any]:
    """Field and plain value; a library's name as its last part."""
    return {each.field: plain(each.value) for each in sayings(reader, read)}


def plain(value: Value) -> Any:
    return value.data.name.rpartition(".")[2] if isinstance(value.data, Dotted) else value.data


def loop(variable: str, bound: Any, *, inside: int = 0, text: str = "", **about: Any) -> Loop:
    kind = about.pop("kind", "for")
    value = None if bound is None else val(bound)
    return Loop(kind=kind, variable=variable, bound=value, line=at(5, text), inside=inside, **about)
