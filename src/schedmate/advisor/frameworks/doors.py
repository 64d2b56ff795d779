"""Doors: the ways in which settings reach a framework."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import is_of, last_name
from schedmate.advisor.frameworks.command_line import (
    Given,
    config_option,
    named_config,
    read_command_line,
    with_options,
)
from schedmate.advisor.frameworks.contract import Door, Settings, table_of
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.options.configs import assign, merge


def command_line(
    *,
    commands: tuple[str, ...] = (),
    others: tuple[str, ...] = (),
    config: str = "",
    file_at: int | None = None,
    switches: frozenset[str] = frozenset(),
    greedy: bool = False,
) -> Door:
    """Flags and `key=value` words over a config file.

    The file is named by one of the flags of `config`, or is the first word that looks like one
    among the first `file_at`. Where `commands` are given, the first word must begin with one of
    them; it must not be one of the `others`.
    """

    def door(reading: Reading) -> Iterator[Settings]:
        if reading.context is None:
            return
        given = read_command_line(reading.run.arguments, switches=switches, greedy=greedy)
        first = given.word(0)
        word = first.text if first is not None else ""
        if word in others or (commands and not word.startswith(commands)):
            return
        tree = config_option(given.options, config, reading.context)
        if file_at is not None:
            tree = merge(named_config(given.positional[:file_at], reading.context), tree)
        yield settings_of(reading, given, tree)

    return door


def settings_of(reading: Reading, given: Given, tree: Value) -> Settings:
    """The command line over a config, with `${…}` filled in after that."""
    assert reading.context is not None  # noqa: S101 - doors of programs have one
    whole = with_options(tree, given.options, reading.context)
    return Settings(whole, reading, words=given.positional, started=True)


def constructed(pattern: str, packages: tuple[str, ...] = (), first: str = "") -> Door:
    """The keywords of calls whose last name fits; `first` is what its first argument
    without a keyword is called."""
    fits = re.compile(pattern).search

    def door(reading: Reading) -> Iterator[Settings]:
        for call in reading.trace.calls:
            if not fits(last_name(call.callee)) or (packages and not is_of(call.callee, *packages)):
                continue
            positional = {first: call.positional[0]} if first and call.positional else {}
            yield Settings(table_of({**positional, **call.keywords}), reading, at=call)

    return door


def called(packages: tuple[str, ...], arguments: Mapping[str, str]) -> Door:
    """Calls of the packages, each by its own name: `fit.epochs`, and `*.bs` whatever it is called.

    `arguments` are the names of what calls take without a keyword; `every` is in how many rounds
    of a loop a call is made once."""

    def door(reading: Reading) -> Iterator[Settings]:
        for call in reading.trace.calls:
            if not is_of(call.callee, *packages):
                continue
            name = last_name(call.callee)
            names = arguments.get(name, "").split()
            parts = {**dict(zip(names, call.positional, strict=False)), **call.keywords}
            given = table_of(parts if call.every is None else {"every": call.every, **parts})
            yield Settings(table_of({name: given, "*": given}), reading, at=call)

    return door


def options_like(marks: frozenset[str], *, enough: int, needs: str = "") -> Door:
    """Options of the job, where enough of them are called as this framework calls its own."""

    def door(reading: Reading) -> Iterator[Settings]:
        plain = {
            name.lstrip("-").replace("-", "_"): value for name, value in reading.options.items()
        }
        if len(marks & plain.keys()) < enough or (needs and needs not in plain):
            return
        tree = Value(Table({}))
        for name, value in plain.items():
            tree = assign(tree, name, value)
        yield Settings(tree, reading)

    return door
