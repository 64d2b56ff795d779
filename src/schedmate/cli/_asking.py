"""The model of a verb that can do without: opened when there is something to ask."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from schedmate.cli._common import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

    from schedmate.config import LlmSettings, Settings
    from schedmate.model import Answer, Asker, Subject, Tier
    from schedmate.store import Store

    T = TypeVar("T", bound=BaseModel)

PATIENCE_S: Final[dict[Tier, float]] = {"none": 0.0, "choose": 10.0, "read": 60.0}
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
        self._took_s = 0.0
        self._announced = False
        self._tier: Tier | None = None

    @property
    def tier(self) -> Tier:
        """None where no model can be asked."""
        from sqlite3 import Error as StoreError

        from schedmate import config
        from schedmate.model import SchedMateError

        if self._tier is None:
            try:
                with self._opened(config.load()) as asker:
                    self._tier = asker.tier
            except (OSError, SchedMateError, StoreError):
                self._tier = "none"
        return self._tier

    @contextmanager
    def _opened(self, settings: Settings) -> Iterator[Asker]:
        from schedmate.model import ModelUnavailable
        from schedmate.service.wiring import open_asker, open_store

        with ExitStack() as stack:
            store = self._store or stack.enter_context(closing(open_store(settings)))
            asker = open_asker(settings, store)
            if asker is None:
                raise ModelUnavailable("no language model is configured or installed")
            yield asker

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
        from sqlite3 import Error as StoreError

        from schedmate import config
        from schedmate.model import (
            ModelError,
            ModelTooSlow,
            ModelUnavailable,
            SchedMateError,
            Subject,
        )
        from schedmate.model.account import account_name

        begun = time.monotonic()
        try:
            settings = self._in_time(config.load())
            with self._opened(settings) as asker:
                self._announce(settings.llm)
                return asker.ask(
                    schema,
                    prompt,
                    purpose=purpose,
                    system=system,
                    max_tokens=max_tokens,
                    about=about or Subject(user=account_name()),
                )
        except ModelTooSlow:
            if self._demanded:
                raise
            raise self._too_slow() from None
        except ModelError:
            raise
        except (OSError, SchedMateError, StoreError) as error:
            raise ModelUnavailable(f"no model can be asked: {error}") from error
        finally:
            self._took_s += time.monotonic() - begun

    def _in_time(self, settings: Settings) -> Settings:
        if self._demanded:
            return settings
        left = PATIENCE_S[self.tier] - self._took_s
        if left <= 0 and self.tier != "none":
            raise self._too_slow()
        llm = settings.llm
        least = min(llm.deadline_s, left), min(llm.read_deadline_s, left)
        llm = replace(llm, deadline_s=least[0], read_deadline_s=least[1])
        return replace(settings, llm=llm)

    def _announce(self, llm: LlmSettings) -> None:
        if not self._announced:
            self._announced = True
            seconds = llm.read_deadline_s if self.tier == "read" else llm.deadline_s
            say(f"asking a language model, {seconds:.0f} s at most (--no-llm answers without)")

    def _too_slow(self) -> Exception:
        from schedmate.model import ModelTooSlow

        return ModelTooSlow(f"it gave no answer within {PATIENCE_S[self.tier]:g} s")
