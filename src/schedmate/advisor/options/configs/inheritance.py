"""Configs that name what they inherit: `_base_` (OpenMMLab), `_BASE_` (detectron2), `base`."""

from __future__ import annotations

import posixpath

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Sequence, Table, Value
from schedmate.advisor.options.configs.merging import merge, remove

_NAMES = ("_base_", "_BASE_", "__BASE__")
_MAX_BASES = 16
_MAX_READS = 64


def inherit(config: Value, path: str, context: Context) -> Value:
    """The config at `path` with what it inherits; bases are named relative to it.

    A base that cannot be read leaves it not `complete`.
    """
    return _Family(context).inherited(config, path, ())


class _Family:
    """Counts what it reads: configs may inherit each other in circles."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._reads = 0

    def inherited(self, config: Value, path: str, heirs: tuple[str, ...]) -> Value:
        name = next((name for name in _NAMES if _has(config, name)), None)
        if name is None:
            return config
        base = Value(Table({}), (), "config")
        for each in _paths(config.data.parts[name]):
            found = self._base(each, path, heirs)
            base = merge(base, found or Value(Table({}, complete=False)))
        return merge(base, remove(config, name))

    def _base(self, base: str | None, path: str, heirs: tuple[str, ...]) -> Value | None:
        """Beside the config that names it; the context keeps us inside the job's directory."""
        if base is None or "://" in base or base.startswith(("/", "~")):
            return None
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), base))
        self._reads += 1
        if place in heirs or self._reads > _MAX_READS:
            return None
        found = read_any(place, self._context)
        return None if found is None else self.inherited(found, place, (*heirs, place))


def read_any(path: str, context: Context) -> Value | None:
    """A config of any kind; one in Python is interpreted, not run."""
    return context.read_python_config(path) if path.endswith(".py") else context.read_config(path)


def _has(config: Value, name: str) -> bool:
    return isinstance(config.data, Table) and name in config.data.parts


def _paths(value: Value) -> list[str | None]:
    items = value.data.items if isinstance(value.data, Sequence) else [value]
    return [each.data if isinstance(each.data, str) else None for each in items[:_MAX_BASES]]
