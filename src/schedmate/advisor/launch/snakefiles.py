"""What a workflow of Snakemake runs: the commands of its rules as shell text, at their lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.manifests.base import Read
from schedmate.advisor.launch.manifests.documents import Part, documents
from schedmate.advisor.sources.files import SourceFile

_FILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")
_RULE = re.compile(r"(?:rule|checkpoint)\s+(\w{1,100})\s*:")
_SECTION = re.compile(r"(\s+)([a-z_]{3,20})\s*:(.*)")
_AT_TOP = re.compile(r"(configfile|include)\s*:\s*[\"']([^\"']{1,300})[\"']")
_PLACE = re.compile(r"(?<!\{)\{([A-Za-z_][\w.]{0,100}(?:\[[\w\"'.-]{1,100}\]){0,4})\}(?!\})")
_STARTED = {"script": "python ", "notebook": "papermill ", "shell": ""}
_VALUED = frozenset(("-s", "--snakefile", "--configfile", "--configfiles", "-d", "--directory"))
_MAX_FILES = 20
_MAX_TEXT = 20_000


@dataclass(slots=True)
class _Rule:
    """Its sections by name: the line of each, and its text."""

    name: str
    sections: dict[str, tuple[int, str]] = field(default_factory=dict)


def workflow(words: Sequence[Word], base: Path, read: Read) -> list[SourceFile]:
    """The files of a workflow, each with its commands in place of its rules: those of the rules
    that are named, else of all."""
    options, targets = _apart(words)
    named = options.get("-s") or options.get("--snakefile")
    places = [base / each for each in ((named,) if named else _FILES)]
    first = next((source for place in places if (source := read(place)) is not None), None)
    if first is None:
        return []
    files = _with_included(first, read)
    chosen = options.get("--configfile") or options.get("--configfiles")
    declared = (found[2] for each in files for found in _AT_TOP.finditer(each.text))
    configs = (
        [chosen] if chosen else [path for path in declared if path.endswith((".yaml", ".yml"))]
    )
    config = _Config([part for path in configs for part in _read(base / path, read)])
    rules = [(source, rule) for source in files for rule in _rules(source)]
    meant = [each for each in rules if each[1].name in targets] or rules
    texts = (
        (source, _text(source, [one for at, one in meant if at is source], config))
        for source in files
    )
    return [replace(source, text=text) for source, text in texts if text.strip()]


def _apart(words: Sequence[Word]) -> tuple[dict[str, str], set[str]]:
    options: dict[str, str] = {}
    targets: set[str] = set()
    at = 0
    while at < len(words):
        name, equals, value = words[at].text.partition("=")
        if name in _VALUED and not equals and at + 1 < len(words):
            at += 1
            options[name] = words[at].text
        elif name.startswith("-"):
            options[name] = value
        else:
            targets.add(name)
        at += 1
    return options, targets


def _read(path: Path, read: Read) -> list[Part]:
    source = read(path)
    return [] if source is None else documents(source)


def _with_included(first: SourceFile, read: Read) -> list[SourceFile]:
    found = [first]
    for source in found:
        for name, path in _AT_TOP.findall(source.text):
            place = None if source.path is None else source.path.parent / path
            included = read(place) if name == "include" and place is not None else None
            if included is not None and len(found) < _MAX_FILES:
                found += [] if any(each.name == included.name for each in found) else [included]
    return found


def _rules(source: SourceFile) -> Iterator[_Rule]:
    rule: _Rule | None = None
    section = ""
    for number, line in enumerate(source.lines(), 1):
        started = _RULE.match(line)
        if started is not None or (line[:1].strip() and not line.startswith("#")):
            if rule is not None:
                yield rule
            rule = None if started is None else _Rule(started[1])
            section = ""
            continue
        if rule is None:
            continue
        found = _SECTION.match(line)
        open_text = rule.sections.get(section, (0, ""))[1].count('"""') % 2
        if found is not None and not open_text:
            section = found[2]
            rule.sections[section] = (number, found[3])
        elif section:
            first, text = rule.sections[section]
            rule.sections[section] = (first, f"{text}\n{line}"[:_MAX_TEXT])
    if rule is not None:
        yield rule


def _text(source: SourceFile, rules: Sequence[_Rule], config: _Config) -> str:
    lines = [""] * (len(source.lines()) + 1)
    for rule in rules:
        values = _values(rule, config)
        for kind, prefix in _STARTED.items():
            if kind in rule.sections:
                number, text = rule.sections[kind]
                _place(lines, number, text, prefix, values)
    return "\n".join(lines) + "\n"


def _place(
    lines: list[str], number: int, text: str, prefix: str, values: Mapping[str, str]
) -> None:
    """The strings of a section at the lines where they stand."""
    found = _called(text)
    for node in found.args if found is not None else ():
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        filled = _PLACE.sub(lambda place: values.get(place[1], _unknown(place[1])), node.value)
        for offset, line in enumerate((prefix + filled.replace("{{", "{")).split("\n")):
            at = number + node.lineno - 2 + offset
            if 0 <= at < len(lines):
                lines[at] = f"{lines[at]}{line.replace('}}', '}')}"


def _unknown(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name)


def _called(text: str) -> ast.Call | None:
    """A section is written as the arguments of a call are; strings in a row are one."""
    try:
        tree = ast.parse(f"_({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if isinstance(tree, ast.Call) else None


def _values(rule: _Rule, config: _Config) -> dict[str, str]:
    """What `{input.train}` and `{params.epochs}` stand for, as far as the config tells."""
    found: dict[str, str] = dict(config.texts())
    for section in ("input", "output", "params", "log"):
        number, text = rule.sections.get(section, (0, ""))
        call = _called(text) if number else None
        parts = [] if call is None else [*call.args, *(each.value for each in call.keywords)]
        texts = [config.text(part) for part in parts]
        if texts and all(texts):
            found[section] = " ".join(each or "" for each in texts)
        for index, part in enumerate(call.args if call is not None else ()):
            found |= {f"{section}[{index}]": each for each in (config.text(part),) if each}
        for keyword in call.keywords if call is not None else ():
            value = config.text(keyword.value)
            if value is not None and keyword.arg is not None:
                found[f"{section}.{keyword.arg}"] = value
    return found


@dataclass(frozen=True, slots=True)
class _Config:
    parts: Sequence[Part]

    def texts(self) -> Iterator[tuple[str, str]]:
        for part in self.parts:
            for name, value in part.items():
                if value.text is not None:
                    yield f"config[{name}]", value.text

    def text(self, node: ast.expr) -> str | None:
        """Of `config["dir"] + "/train.csv"`; None where it depends on anything else."""
        match node:
            case ast.Constant(value=str() | int() | float() as value):
                return None if "{" in str(value) else str(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = (self.text(left), self.text(right))
                return None if None in parts else "".join(each or "" for each in parts)
            case ast.Subscript():
                return self._looked_up(node)
        return None

    def _looked_up(self, node: ast.expr) -> str | None:
        path: list[str] = []
        while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            path.insert(0, str(node.slice.value))
            node = node.value
        if not isinstance(node, ast.Name) or node.id != "config":
            return None
        found = (part.get(*path) for part in self.parts)
        return next((each.text for each in found if each is not None and each.text), None)
