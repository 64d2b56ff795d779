"""The model of a verb that can do without: opened when there is something to ask."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel

    from schedmate.model import Answer

    T = TypeVar("T", bound=BaseModel)


class LazyAsker:
    """Fulfils `Asker`. Whatever keeps a model from being asked is a `ModelUnavailable`."""

    def ask(
        self, schema: type[T], prompt: str, *, purpose: str, system: str = "", max_tokens: int = 256
    ) -> Answer[T]:
        from sqlite3 import Error as StoreError

        from schedmate import config
        from schedmate.model import ModelError, ModelUnavailable, SchedMateError
        from schedmate.service.wiring import LateAsker, open_store

        try:
            settings = config.load()
            with closing(open_store(settings)) as store:
                return LateAsker(settings, store).ask(
                    schema, prompt, purpose=purpose, system=system, max_tokens=max_tokens
                )
        except ModelError:
            raise
        except (OSError, SchedMateError, StoreError) as error:
            raise ModelUnavailable(f"no model can be asked: {error}") from error
