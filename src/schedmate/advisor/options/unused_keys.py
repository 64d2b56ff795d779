"""Settings of a config file that the code reads, but never looks up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from schedmate.advisor.interpret.python.trace import Option, Trace
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.options.tables import leaves
from schedmate.advisor.sources.files import SourceFile
from schedmate.advisor.sources.words import words
from schedmate.model import Evidence

_BY_OTHER_WAYS = re.compile(
    r"\*\*|\b(?:setattr|getattr|vars|exec|eval|instantiate|build\w{0,40}|from_\w{1,40})\(|__dict__"
    r"|\.(?:items|values|keys|update|merge\w{0,20}|format)\(|\[f[\"']|\blocals\(|\bglobals\("
)
"""Code that may look up a key without naming it."""
_ONLY_SHOW = words("print pprint dump dumps info debug log to_yaml")
_FILES = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg")


def unused_keys(
    trace: Trace, configs: Iterable[SourceFile], code: Collection[SourceFile]
) -> set[Evidence]:
    """The lines of keys that no line of the code names: nothing depends on those.

    Only where all of the code was read, and where it hands no config on to a library.
    """
    texts = {source.name: source.text for source in configs if source.name.endswith(_FILES)}
    whole = "\n".join(source.text for source in code)
    if trace.exhausted or not texts or not whole or _BY_OTHER_WAYS.search(whole):
        return set()
    handed = set(_handed_on(trace))
    named = {word.lower() for word in re.findall(r"\w+", whole)}
    named |= {
        word.lower()
        for text in texts.values()
        for found in re.findall(r"\{([^{}]{1,200})\}", text)
        for word in re.findall(r"\w+", found)
    }
    unused = (each for each in trace.options if _is_unused(each, texts, named, handed))
    return {each.value.lines[0] for each in unused}


def _is_unused(
    option: Option, texts: Collection[str], named: set[str], handed: set[Evidence]
) -> bool:
    lines = option.value.lines
    if option.value.source != "config" or not lines or lines[0].file not in texts:
        return False
    key = re.split(r"[./]", option.name)[-1].lower()
    return bool(key) and key.replace("-", "_") not in named and handed.isdisjoint(lines)


def _handed_on(trace: Trace) -> Iterator[Evidence]:
    """The lines of configs that a library gets as a whole, and not only to show them."""
    for call in trace.calls:
        if call.callee.rpartition(".")[2] in _ONLY_SHOW:
            continue
        for given in (*call.positional, *call.keywords.values(), call.receiver or Value(None)):
            if isinstance(given.data, Table):
                yield from (line for _, value in leaves(given.data) for line in value.lines)
