"""The model as the daemon asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from schedmate.model import ModelUnavailable
from schedmate.service.wiring import open_asker

if TYPE_CHECKING:
    from pydantic import BaseModel

    from schedmate.config import Settings
    from schedmate.model import Answer, Subject, Tier
    from schedmate.store import Store

    T = TypeVar("T", bound=BaseModel)


class LateAsker:
    """Asks a model that may be installed while the daemon runs."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store

    @property
    def tier(self) -> Tier:
        asker = open_asker(self._settings, self._store)
        return "none" if asker is None else asker.tier

    def ask(
        self,
        schema: type[T],
        prompt: str,
        *,
        purpose: str,
        system: str = "",
        max_tokens: int = 256,
        about: Subject | None = None,
    ) -> Answer[T]:
        asker = open_asker(self._settings, self._store)
        if asker is None:
            raise ModelUnavailable("no language model is configured or installed")
        return asker.ask(
            schema, prompt, purpose=purpose, system=system, max_tokens=max_tokens, about=about
        )
