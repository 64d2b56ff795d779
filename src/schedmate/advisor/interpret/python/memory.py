"""Everything the interpreted code changes, so that a branch can be undone and two be merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from schedmate.advisor.interpret.python.values import Sequence, Table, Value

_ABSENT: Any = object()
_Cell = tuple[int, Any]
Merge = Callable[[Value | None, Value | None], Value | None]


class Changes:
    """Cells (a name in a dict, the items of a sequence) with what was in them before."""

    def __init__(self) -> None:
        self.before: dict[_Cell, Any] = {}
        self.owners: dict[_Cell, Any] = {}

    def note(self, owner: Any, key: Any, old: Any) -> None:
        cell = (id(owner), key)
        if cell not in self.before:
            self.before[cell] = old
            self.owners[cell] = owner


class Memory:
    """Writes go through here while a branch is interpreted that may not be taken."""

    def __init__(self) -> None:
        self._journals: list[Changes] = []

    def write(self, names: dict[str, Value], name: str, value: Value) -> None:
        if self._journals:
            self._journals[-1].note(names, name, names.get(name, _ABSENT))
        names[name] = value

    def remove(self, names: dict[str, Value], name: str) -> None:
        if self._journals:
            self._journals[-1].note(names, name, names.get(name, _ABSENT))
        names.pop(name, None)

    def rewrite(self, sequence: Sequence, items: list[Value], *, complete: bool) -> None:
        if self._journals:
            self._journals[-1].note(sequence, None, (sequence.items, sequence.complete))
        sequence.items, sequence.complete = items, complete

    def open_up(self, table: Table) -> None:
        """From now on the table may have unknown parts."""
        if self._journals:
            self._journals[-1].note(table, None, table.complete)
        table.complete = False

    @contextmanager
    def outside(self) -> Iterator[None]:
        """What happens in here happens whichever branch is taken."""
        kept, self._journals = self._journals, []
        try:
            yield
        finally:
            self._journals = kept

    @contextmanager
    def tentative(self) -> Iterator[Changes]:
        """Note the changes made in here; the caller decides what becomes of them."""
        changes = Changes()
        self._journals.append(changes)
        try:
            yield changes
        finally:
            self._journals.remove(changes)

    def keep(self, changes: Changes) -> None:
        """They stand; who notes changes around them notes these too."""
        if self._journals:
            for cell, old in changes.before.items():
                self._journals[-1].note(changes.owners[cell], cell[1], old)

    def undo(self, changes: Changes) -> dict[_Cell, Any]:
        """Put back what was; return what had been put there."""
        after = {}
        for cell, old in changes.before.items():
            owner, key = changes.owners[cell], cell[1]
            after[cell] = _get(owner, key)
            _set(owner, key, old)
        return after

    def redo(self, changes: Changes, after: dict[_Cell, Any]) -> None:
        for cell, value in after.items():
            self._put(changes.owners[cell], cell[1], value)

    def merge(
        self,
        one: tuple[Changes, dict[_Cell, Any]],
        other: tuple[Changes, dict[_Cell, Any]],
        merge: Merge,
    ) -> None:
        """Both branches were undone; now either may have been taken."""
        owners = one[0].owners | other[0].owners
        for cell, owner in owners.items():
            key = cell[1]
            now = _get(owner, key)
            self._put(owner, key, _merged(one[1].get(cell, now), other[1].get(cell, now), merge))

    def _put(self, owner: Any, key: Any, value: Any) -> None:
        if self._journals:
            self._journals[-1].note(owner, key, _get(owner, key))
        _set(owner, key, value)


def _set(owner: Any, key: Any, value: Any) -> None:
    if isinstance(owner, Sequence):
        owner.items, owner.complete = value
    elif isinstance(owner, Table):
        owner.complete = value
    elif value is _ABSENT:
        owner.pop(key, None)
    else:
        owner[key] = value


def _get(owner: Any, key: Any) -> Any:
    if isinstance(owner, Sequence):
        return owner.items, owner.complete
    if isinstance(owner, Table):
        return owner.complete
    return owner.get(key, _ABSENT)


def _merged(one: Any, other: Any, merge: Merge) -> Any:
    if one is other:
        return one
    if isinstance(one, bool):
        return False
    if isinstance(one, tuple):
        shared = []
        for left, right in zip(one[0], other[0], strict=False):
            if left is not right:
                break
            shared.append(left)
        same = len(shared) == len(one[0]) == len(other[0])
        return shared, same and one[1] and other[1]
    merged = merge(
        None if one is _ABSENT else one,
        None if other is _ABSENT else other,
    )
    return _ABSENT if merged is None else merged
