"""What goes wrong in a sweep says in which setting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schedmate.model import SchedMateError
from schedmate.simulator.sweeps.question import Question


class FailedSetting(SchedMateError):
    """One setting of a sweep could not be simulated."""


@contextmanager
def named(question: Question) -> Iterator[None]:
    try:
        yield
    except SchedMateError as error:
        if not question.swept:
            raise
        failed = FailedSetting(f"{question.title}: {error}")
        failed.exit_code = error.exit_code
        raise failed from error
    except Exception as error:
        if not question.swept:
            raise
        raise FailedSetting(f"{question.title} failed: {type(error).__name__}: {error}") from error
