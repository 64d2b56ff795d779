"""Config files that the command line names and no line of the job's own code is seen to read.

A library reads them, or code that is elsewhere: what they hold is set all the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import Table
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs import compose, inherit, read_arguments
from schedmate.advisor.options.given import given
from schedmate.advisor.options.tables import leaves, table_of
from schedmate.advisor.options.undeclared import pairs
from schedmate.advisor.sources.files import SourceFile

_ENDINGS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg")
_NAMED = re.compile(
    r"c|opt|(?:[a-z]+[_-])?(?:cfgs?|conf|configs?|params?|hparams|settings|yaml|options?)"
    r"(?:[_-]?(?:file|path|yaml|name))?",
    re.IGNORECASE,
)
_MAX_FILES = 4
_DIRECTORIES = ("configs", "conf", "config")
_PRIMARY = ("config", "main", "train", "default", "base")


def unread_configs(
    arguments: Sequence[Word],
    context: Context,
    read: Collection[SourceFile],
    *,
    elsewhere: bool = False,
) -> Iterator[Option]:
    """The settings of such files, one level further away than what the code itself states.

    `elsewhere`: the program is none of the job's, so it composes the job's configs unseen.
    """
    table = _composed(context) if elsewhere else None
    for name, value in leaves(table) if table is not None else ():
        yield Option(name=name, value=value, depth=1)
    known = {source.name.rpartition("/")[2] for source in read}
    for path in _paths(arguments)[:_MAX_FILES]:
        found = None if path.rpartition("/")[2] in known else context.read_config(path)
        table = None if found is None else table_of(inherit(found, path, context))
        for name, value in leaves(table) if table is not None else ():
            yield Option(name=name, value=value, depth=1)


def _composed(context: Context) -> Table | None:
    """What Hydra makes of `experiment=a trainer.max_epochs=5` and the configs where they lie."""
    given_words = read_arguments(context.arguments)
    if not given_words.overrides:
        return None
    named = (given_words.config_name.text,) if given_words.config_name else _PRIMARY
    for directory in _DIRECTORIES:
        for name in named:
            found = table_of(context.read_config(f"{directory}/{name.removesuffix('.yaml')}.yaml"))
            if found is not None and "defaults" in found.parts:
                return table_of(compose(context, directory, name, given_words.overrides))
    return None


def _paths(arguments: Sequence[Word]) -> list[str]:
    """`--config a.yaml`, `-c a.yaml`, `config=a.yaml`; and a first word that is one."""
    words = given(arguments)
    found = [
        each.text
        for pair in pairs(words)
        if _NAMED.fullmatch(pair.name)
        for each in pair.values
        if each.known
    ]
    if words and words[0].known and not words[0].text.startswith("-") and "=" not in words[0].text:
        found.insert(0, words[0].text)
    return [path for path in dict.fromkeys(found) if path.endswith(_ENDINGS)]
