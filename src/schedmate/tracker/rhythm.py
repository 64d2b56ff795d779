"""How often a job says something, and when its silence means that it hangs."""

from __future__ import annotations

_LEAST_GAPS = 5
_FACTOR = 3.0
_PATIENT_FACTOR = 10.0
_SHARE_OF_RUN = 0.05
_UNSEEN_SHARE = 0.25


class Rhythm:
    """The job's own longest silence so far, start-up included, measures every later one."""

    def __init__(self, *, floor_s: float, started_at: float | None) -> None:
        self._floor_s = floor_s
        self._began = started_at
        self._spoke: float | None = None
        self._gaps = 0
        self._longest = 0.0

    def look(self, now: float, *, spoke: bool, lines: int = 1) -> None:
        """Note a look at the logs that did or did not find something new, so many lines of it.

        Lines between two looks are part of the rhythm too: a job that wrote fast for three
        looks and then fell silent has shown one.
        """
        if self._began is None or now < self._began:
            self._began = now
        if self._spoke is not None and now < self._spoke:
            self._spoke = now  # the clock was set back: the silence so far cannot be told
        if not spoke:
            return
        self._gaps += max(1, lines) - (self._spoke is None)
        since = self._began if self._spoke is None else self._spoke
        self._longest = max(self._longest, now - since)
        self._spoke = now

    def catch_up(self, lines: int, *, until: float) -> None:
        """Take over a run that has already written lines, the last of them at `until`.

        Their gaps were not seen: the longest may have been a good part of the run.
        """
        self._spoke = until
        if self._began is None or until < self._began:
            self._began = until
            return
        self._gaps = lines
        self._longest = _UNSEEN_SHARE * (until - self._began)

    def silence_s(self, now: float) -> float:
        return 0.0 if self._spoke is None else max(0.0, now - self._spoke)

    def is_stalled(self, now: float, *, patient: bool) -> bool:
        """Whether the job is silent far beyond its rhythm; `patient` in known long pauses.

        A job without a rhythm yet is never stalled. A silence shorter than a twentieth of the
        run so far is not worth an alarm either.
        """
        if self._spoke is None or self._began is None or self._gaps < _LEAST_GAPS:
            return False
        factor = _PATIENT_FACTOR if patient else _FACTOR
        run = _SHARE_OF_RUN * (self._spoke - self._began)
        return self.silence_s(now) > max(self._floor_s, factor * self._longest, run)
