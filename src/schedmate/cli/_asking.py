"""The model of a verb that can do without: opened when there is something to ask."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from schedmate.cli._common import say

if TYPE_CHECKING:
    from pydantic import BaseModel

    from schedmate.config import Settings
    from schedmate.model import Answer
    from schedmate.store import Store

    T = TypeVar("T", bound=BaseModel)

PATIENCE_S = 10.0
"""For all questions of a verb: someone waits, and rules have an answer."""


class PersonsAsker:
    """Fulfils `Asker`; it states that a model is asked, and waits no longer than a person would.

    Whatever keeps a model from being asked is a `ModelUnavailable`. A model that is demanded has
    the time of the settings for each question.
    """

    def __init__(self, store: Store | None = None, *, demanded: bool = False) -> None:
        """Without a store it opens its own, where there is something to ask."""
        self._store = store
        self._demanded = demanded
        self._left_s = PATIENCE_S
        self._announced = False

    def ask(
        self, schema: type[T], prompt: str, *, purpose: str, system: str = "", max_tokens: int = 256
    ) -> Answer[T]:
        from sqlite3 import Error as StoreError

        from schedmate import config
        from schedmate.model import ModelError, ModelTooSlow, ModelUnavailable, SchedMateError
        from schedmate.service.wiring import open_asker, open_store

        begun = time.monotonic()
        try:
            with ExitStack() as stack:
                settings = self._in_time(config.load())
                store = self._store or stack.enter_context(closing(open_store(settings)))
                asker = open_asker(settings, store)
                if asker is None:
                    raise ModelUnavailable("no language model is configured or installed")
                self._announce(settings.llm.deadline_s)
                return asker.ask(
                    schema, prompt, purpose=purpose, system=system, max_tokens=max_tokens
                )
        except ModelTooSlow:
            if self._demanded:
                raise
            raise _too_slow() from None
        except ModelError:
            raise
        except (OSError, SchedMateError, StoreError) as error:
            raise ModelUnavailable(f"no model can be asked: {error}") from error
        finally:
            self._left_s -= time.monotonic() - begun

    def _in_time(self, settings: Settings) -> Settings:
        if self._demanded:
            return settings
        if self._left_s <= 0:
            raise _too_slow()
        llm = replace(settings.llm, deadline_s=min(settings.llm.deadline_s, self._left_s))
        return replace(settings, llm=llm)

    def _announce(self, seconds: float) -> None:
        if not self._announced:
            self._announced = True
            say(f"asking a language model, {seconds:.0f} s at most (--no-llm answers without)")


def _too_slow() -> Exception:
    from schedmate.model import ModelTooSlow

    return ModelTooSlow(f"it gave no answer within {PATIENCE_S:g} s")
