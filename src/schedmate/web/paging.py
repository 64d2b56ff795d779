"""Lists a page at a time: `limit`, `offset`, and the query string of the next page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query

MOST = 250
"""Of whole jobs or runs, which are kilobytes each: more would hold up other readers."""
MOST_SMALL = 1000
"""Of rows that are a few numbers each."""
FARTHEST = 10_000
"""How far an offset may go."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100
    offset: Annotated[int, Query(ge=0, le=FARTHEST)] = 0

    @property
    def end(self) -> int:
        return self.offset + self.limit

    def last(self, total: int, **query: object) -> str | None:
        """The query string of the last page of so many; None where there is none at all."""
        return self._at((total - 1) // self.limit * self.limit, query) if total else None

    def following(self, *, more: bool, **query: object) -> str | None:
        """The query string of the page after this one, where there are more."""
        if not more or self.end > FARTHEST:
            return None
        return self._at(self.end, query)

    def _at(self, offset: int, query: Mapping[str, object]) -> str:
        stated = {name: value for name, value in query.items() if value not in ("", None)}
        return f"?{urlencode({**stated, 'limit': self.limit, 'offset': offset})}"


APage = Annotated[Paging, Depends()]


def page_of(
    found: Sequence[T], paging: Paging, **query: object
) -> tuple[tuple[T, ...], str | None]:
    """One page of a list that is there as a whole; `query` is what else it was asked with."""
    shown = tuple(found[paging.offset : paging.end])
    return shown, paging.following(more=len(found) > paging.end, **query)
