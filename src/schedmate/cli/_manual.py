"""Pages for `man`, made of what `--help` prints."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from schedmate import __version__
from schedmate.cli import VERBS, root

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEPT = "\b"
"""Click's mark of a paragraph whose lines stay as they are."""


def page_name(verb: str | None) -> str:
    return f"schedmate-{verb}" if verb else "schedmate"


def manual(verb: str | None) -> str:
    """The page of a verb, or of the whole program."""
    name = page_name(verb)
    context = click.Context(root, info_name="schedmate")
    command: click.Command = root
    summary = "makes the scheduler of a GPU cluster understand the jobs it runs"
    if verb is not None:
        found = root.get_command(context, verb)
        if found is None:
            raise KeyError(verb)
        command, summary = found, VERBS[verb]
        context = click.Context(command, info_name=verb, parent=context)
    lines = [
        f'.TH "{name.upper()}" "1" "" "SchedMate {__version__}" "SchedMate"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(summary.rstrip('.'))}",
        *_described(command, context, ".SH"),
        ".SH SEE ALSO",
        ", ".join(f"{_escaped(page_name(one))}(1)" for one in _others(verb)),
    ]
    return "\n".join(lines) + "\n"


def _others(verb: str | None) -> list[str | None]:
    return [*VERBS] if verb is None else [None]


def _described(command: click.Command, context: click.Context, heading: str) -> Iterator[str]:
    yield f"{heading} SYNOPSIS"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"\\fB{_escaped(context.command_path)}\\fR {_escaped(usage)}"
    yield f"{heading} DESCRIPTION"
    yield from _paragraphs(command.help or "")
    options = [one for one in (param.get_help_record(context) for param in command.params) if one]
    if options:
        yield f"{heading} OPTIONS"
        for names, text in options:
            yield from (".TP", f"\\fB{_escaped(names)}\\fR", _escaped(text))
    if command is root:
        yield f"{heading} VERBS"
        for name, text in VERBS.items():
            yield from (".TP", f"\\fB{_escaped(name)}\\fR", _escaped(text))
    elif isinstance(command, click.Group):
        for name in command.list_commands(context):
            one = command.get_command(context, name)
            if one is not None:
                yield f'.SH "{_escaped(context.command_path.upper())} {_escaped(name.upper())}"'
                inner = click.Context(one, info_name=name, parent=context)
                yield from _described(one, inner, ".SS")
    if command.epilog:
        text = inspect.cleandoc(command.epilog)
        kept = text.startswith(_KEPT)
        yield f"{heading} {'EXAMPLES' if kept else 'NOTES'}"
        yield from _paragraphs(text.replace(f"{_KEPT}\nExamples:\n", f"{_KEPT}\n"))


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        lines = paragraph.split("\n")
        if number:
            yield ".PP"
        if lines[0] == _KEPT:
            yield from (".nf", *(_escaped(line) for line in lines[1:]), ".fi")
        else:
            yield _escaped(" ".join(line.strip() for line in lines))


def _escaped(text: str) -> str:
    """Nothing in it is a request, and a hyphen can be copied as one."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    plain = "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in plain)
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
