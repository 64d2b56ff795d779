"""What is said of a setting's jobs beforehand, and by whom; everybody is asked once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from schedmate.policies import FirstFit
from schedmate.simulator.columns import Floats
from schedmate.simulator.estimates import Estimates, limits, mistaken, oracle, silence
from schedmate.simulator.execute import execute
from schedmate.simulator.seen import seen_of
from schedmate.simulator.setting import Setting

_FORETOLD = frozenset({"oracle", "advisor"})


class Knowledge:
    """Who learns at a job's submission learns from the jobs that had ended by then in the unaided
    run of the same setting: first come, first served, whoever fits."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._asked: dict[str, Estimates] = {}

    @cached_property
    def known_at(self) -> Floats:
        columns = self._setting.columns
        seen = seen_of(columns, self.of("nobody"))
        return execute(self._setting, columns, seen, FirstFit()).end

    def of(self, source: str | None) -> Estimates:
        name = source or "nobody"
        if name not in self._asked:
            self._asked[name] = self._ask(name)
        return self._asked[name]

    def _ask(self, name: str) -> Estimates:
        columns = self._setting.columns
        if self._setting.error is not None and name in _FORETOLD:
            return mistaken(columns, self._setting.error, seed=self._setting.seed)
        simple: dict[str, Callable[[], Estimates]] = {
            "nobody": lambda: silence(columns),
            "oracle": lambda: oracle(columns),
            "limit": lambda: limits(columns),
            "advisor": self._advisor,
        }
        if name in simple:
            return simple[name]()
        from schedmate.simulator.estimators import ESTIMATORS  # noqa: PLC0415 - LightGBM is slow to import

        return ESTIMATORS[name](columns, self.known_at)

    def _advisor(self) -> Estimates:
        from schedmate.simulator.estimators import advisor  # noqa: PLC0415 - loads the whole advisor

        return advisor.estimate(self._setting.columns, self.known_at, self._setting.meaning)
