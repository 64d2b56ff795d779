"""How often a job writes something, and when its silence is worth an alarm.

An alarm is shown, nothing more. Whether a silent job hangs is decided by the decision engine
(`core/hangs.py`), from what `Rhythm.silence` gives and from a second sign.
"""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import KnownPause, Silence

_MIN_GAPS = 10
_FEW_GAPS = 5
_QUIET_S = 10.0
"""After which a count that may be at its end is believed to be."""
_FACTOR = 3.0
_LONE_FACTOR = 1.5
_PATIENT_FACTOR = 10.0
_SHARE_OF_RUN = 0.05
_UNSEEN_SHARE = 0.25
_MOST_OF_RUN = 0.5
"""A silence that was most of the run so far was its start-up."""
_UNWATCHED = 20.0
"""A look that comes so many usual ones late: the machine slept, or its clock jumped."""
_MIN_UNWATCHED_S = 30.0
"""A busy machine looks late, too."""


@dataclass(slots=True)
class Rhythm:
    """The job's own silences so far measure every later one; all fields are its state.

    Start-up, known pauses and the rest are measured apart: one long compilation does not
    excuse a later silence as long, and less so the longer the job has been running since. A
    silence that came once excuses half as much as one that came twice.
    """

    floor_s: float
    started_at: float | None
    wrote_at: float | None = None
    polled_at: float | None = None
    every_s: float | None = None
    """How far apart the looks usually are."""
    gaps: int = 0
    longest_s: float = 0.0
    second_s: float = 0.0
    """The longest silence but one."""
    pause_s: float = 0.0
    """The longest silence of an announced evaluation or checkpoint."""
    start_up_s: float = 0.0
    up_since: float | None = None
    looks: int = 0
    """In how many looks something new was found, ..."""
    first_at: float | None = None
    """... since when."""
    unwatched_s: float = 0.0
    """How much of the silence so far fell into time in which nothing looked."""

    def observe(self, now: float, *, wrote: bool, lines: int = 1, patient: bool = False) -> None:
        """Note a look at the logs that did or did not find something new, so many lines of it.

        Lines between two looks are part of the rhythm too: a job that wrote fast for three
        looks and then fell silent has shown one. `patient` says that the job had announced a
        long pause before it fell silent.
        """
        before, usual = self.polled_at, self.every_s
        watched = self._note_clock(now)
        if self.started_at is None or now < self.started_at:
            self.started_at = now
        missed_s = 0.0 if before is None else max(0.0, now - before)
        if not watched:
            self.unwatched_s += missed_s
        if not wrote:
            return
        self.gaps += max(1, lines) - (self.wrote_at is None)
        since = self.started_at if self.wrote_at is None else self.wrote_at
        looks = max(1, round(min(lines, missed_s / usual))) if usual else 1
        if watched:
            self._measure(now - since - self.unwatched_s, now, patient=patient)
        elif looks > 1:
            self._assume_gaps(missed_s)
        self._note_written(now, looks)

    def _note_written(self, now: float, looks: int) -> None:
        """`looks`: how many would have found these lines, had none been late."""
        self.wrote_at, self.unwatched_s = now, 0.0
        self.looks += looks
        self.first_at = now if self.first_at is None else min(now, self.first_at)

    def catch_up(self, lines: int, *, until: float, now: float) -> None:
        """Take over a run that has already written lines, the last of them at `until`.

        Their gaps were not seen: the longest may have been a good part of the run.
        """
        self.wrote_at, self.polled_at = until, now
        self.unwatched_s = max(0.0, now - until)
        if self.started_at is None or until < self.started_at:
            self.started_at = until
            return
        self.gaps = lines
        self._assume_gaps(until - self.started_at)

    def _assume_gaps(self, unseen_s: float) -> None:
        self.longest_s = max(self.longest_s, _UNSEEN_SHARE * unseen_s)
        self.second_s = max(self.second_s, _UNSEEN_SHARE * unseen_s)

    def silence_s(self, now: float) -> float:
        return 0.0 if self.wrote_at is None else max(0.0, now - self.wrote_at)

    def silence(self, now: float, pause: KnownPause | None) -> Silence | None:
        """What the decision engine needs to know of a silence; None before the first line."""
        if self.wrote_at is None:
            return None
        learnt_s = 0.0 if self.first_at is None else self.wrote_at - self.first_at
        return Silence(
            silent_s=max(0.0, self.silence_s(now) - self.unwatched_s),
            allowed_s=self._allowed_s(patient=pause is not None),
            usual_gap_s=self.second_s,
            lines=self.gaps,
            looks=self.looks,
            learnt_s=max(0.0, learnt_s),
            pause=pause,
        )

    def is_stalled(self, now: float, *, patient: bool) -> bool:
        """Whether the job is silent far beyond its rhythm; `patient` in known long pauses.

        A job without a rhythm yet is never stalled. A silence shorter than a twentieth of the
        run so far is not worth an alarm either.
        """
        return self._beyond(now, self.floor_s, _MIN_GAPS, patient=patient)

    def is_quiet(self, now: float) -> bool:
        """Whether nothing seems to follow: enough to believe an end, not to raise an alarm."""
        return self._beyond(now, min(_QUIET_S, self.floor_s), _FEW_GAPS, patient=False)

    def _beyond(self, now: float, floor_s: float, least: int, *, patient: bool) -> bool:
        if self.wrote_at is None or self.started_at is None or self.gaps < least:
            return False
        return self.silence_s(now) > max(floor_s, self._allowed_s(patient=patient))

    def _allowed_s(self, *, patient: bool) -> float:
        wrote_at, started_at = self.wrote_at or 0.0, self.started_at or 0.0
        usual = max(_FACTOR * self.second_s, _LONE_FACTOR * self.longest_s)
        if patient:
            known = _FACTOR * self.pause_s
            usual = max(usual, known or _PATIENT_FACTOR * self.longest_s)
        up_s = wrote_at - (wrote_at if self.up_since is None else self.up_since)
        start_up = self.start_up_s**2 / (self.start_up_s + up_s) if self.start_up_s else 0.0
        return max(usual, start_up, _SHARE_OF_RUN * (wrote_at - started_at))

    def _measure(self, gap: float, now: float, *, patient: bool) -> None:
        if patient:
            self.pause_s = max(self.pause_s, gap)
        elif gap > _MOST_OF_RUN * (now - (self.started_at or 0.0)):
            self.start_up_s, self.up_since = max(self.start_up_s, gap), now
        elif gap > self.longest_s:
            self.longest_s, self.second_s = gap, self.longest_s
        else:
            self.second_s = max(self.second_s, gap)

    def _note_clock(self, now: float) -> bool:
        """Whether the logs were polled regularly since the last poll."""
        last, self.polled_at = self.polled_at, now
        if last is None or now == last:
            return True
        step = now - last
        if step < 0:
            self._set_back(step)
            return False
        usual = max(_MIN_UNWATCHED_S, _UNWATCHED * (self.every_s or 0.0))
        late = self.every_s is not None and step > usual
        if not late:
            self.every_s = step if self.every_s is None else 0.8 * self.every_s + 0.2 * step
        return not late

    def _set_back(self, seconds: float) -> None:
        """The silence so far stays as long as it was."""
        if self.started_at is not None:
            self.started_at += seconds
        if self.wrote_at is not None:
            self.wrote_at += seconds
        if self.up_since is not None:
            self.up_since += seconds
        if self.first_at is not None:
            self.first_at += seconds
