"""docopt: the options that a program's usage text declares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import Call, Table, Value
from schedmate.advisor.options.argparse_models import words_for
from schedmate.advisor.options.given import Given
from schedmate.advisor.options.tables import state
from schedmate.advisor.sources.files import evidence

_OPTION = re.compile(
    r"(?:^|\n)[ \t]*(-{1,2}[A-Za-z][^\n]{0,300}(?:\n(?![ \t]*-)[^\n]{0,300}){0,4})"
)
_FLAG = re.compile(
    r"(?<![\w-])(--?[A-Za-z][\w-]{0,80})(?:[ =](<[^>\n]{1,80}>|[A-Z][A-Z_-]{0,40}\b))?"
)
_DEFAULT = re.compile(r"\[default:[ ]?([^\]\n]{0,300})\]", re.IGNORECASE)
_USAGE = re.compile(r"usage:(.{0,4000}?)(?:\n[ \t]*\n|$)", re.IGNORECASE | re.DOTALL)
_PLACE = re.compile(r"(?<![=\w-])<[\w -]{1,80}>")
_COMMAND = re.compile(r"[a-z][\w-]{0,40}")
_MAX_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class _Declared:
    names: tuple[str, ...]
    takes: bool
    default: str | None
    line: int
    """Counted from where the text begins."""
    text: str

    @property
    def key(self) -> str:
        return max(self.names, key=len)


def docopt(call: Call, context: Context) -> Value | None:
    """A dict by the options as they are written: `args["--lr"]`, a text until the job turns
    it into a number."""
    doc = call.argument("doc", 0)
    if doc is None or not isinstance(doc.data, str) or len(doc.data) > _MAX_TEXT:
        return None
    declared = list(_declared(doc.data))
    usage = "".join(_USAGE.findall(doc.data))
    table = Table({name: Value(False, (call.line,)) for name in _commands(usage)})
    table.parts |= {each.key: _default(each, doc, call) for each in declared}
    words = list(words_for(call.argument("argv", 1), context))
    places = _PLACE.findall(usage)
    _fill(table, declared, words, list(dict.fromkeys(places)))
    for name, value in table.parts.items():
        state(context, name.strip("-<>").replace("-", "_"), value)
    return Value(table, (call.line,))


def _declared(doc: str) -> Iterator[_Declared]:
    for found in _OPTION.finditer(doc):
        text = found[1]
        flags = _FLAG.findall(text.partition("  ")[0])
        default = _DEFAULT.search(text)
        if flags:
            yield _Declared(
                names=tuple(name for name, _ in flags),
                takes=any(argument for _, argument in flags),
                default=default[1] if default else None,
                line=doc.count("\n", 0, found.start(1)),
                text=text.partition("\n")[0],
            )


def _commands(usage: str) -> Iterator[str]:
    for line in usage.splitlines():
        words = (word.strip("()[]|.") for word in line.split()[1:])
        yield from (word for word in words if _COMMAND.fullmatch(word) and word != "options")


def _default(declared: _Declared, doc: Value, call: Call) -> Value:
    """Stated at its own line of the text."""
    data = declared.default if declared.takes else False
    if not doc.lines:
        return Value(data, (call.line,))
    first = doc.lines[0]
    return Value(data, (evidence(first.file, first.line + declared.line, declared.text),))


def _fill(table: Table, declared: list[_Declared], words: list[Given], places: list[str]) -> None:
    by_name = {name: each for each in declared for name in each.names}
    free: list[Given] = []
    index = 0
    while index < len(words):
        word = words[index]
        name, equals, text = word.text.partition("=")
        known = by_name.get(name)
        index += 1
        if known is None:
            free.append(word)
        elif not known.takes:
            table.parts[known.key] = word.holding(True)
        elif equals:
            table.parts[known.key] = Given(text, word.lines, word.source, word.known).value
        elif index < len(words):
            table.parts[known.key] = words[index].behind(word).value
            index += 1
    bare = [word for word in free if not word.text.startswith("-")]
    commands = bare[: max(0, len(bare) - len(places))]
    table.parts |= {word.text: word.holding(True) for word in commands if word.known}
    for place, word in zip(places, bare[len(commands) :], strict=False):
        table.parts[place] = word.value


DOCOPT: dict[str, CallModel] = {"docopt.docopt": docopt}
