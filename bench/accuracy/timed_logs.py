"""What the tracker answers about home-made logs at 10, 35 and 70 % of their time, and at the end.

    python -m bench.accuracy.timed_logs

The logs in bench/corpora/timed_logs were written without sight of the tracker, scored once as they
were, and seen then. At the end no process writes to them any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from bench.command import command_line, progress
from bench.corpora.timed_logs import TimedLog, timed_logs
from schedmate.logs.file_times import WrittenSpan
from schedmate.model import Progress
from schedmate.tracker import track_with_curves

_NEAR, _FAR = 0.03, 0.1
_BELIEVED = 0.5
_SETTLED_S = 60.0


@dataclass(frozen=True, slots=True)
class Look:
    log: TimedLog
    cut: dict[str, Any]
    answer: Progress

    @property
    def at_end(self) -> bool:
        return bool(self.cut["finished"])

    @property
    def over(self) -> bool:
        return self.answer.phase in ("finished", "failed")

    @property
    def right(self) -> bool:
        if not self._fractions:
            return not self._believed
        return self._within(_NEAR)

    @property
    def confidently_wrong(self) -> bool:
        return self._believed and not self._within(_FAR)

    @property
    def covered(self) -> bool | None:
        """Whether p10 to p90 holds what remained; None where nothing is stated or estimated."""
        eta = self.answer.eta_s
        if not self._fractions or eta is None:
            return None
        return bool(eta.p10 <= self.cut["remaining_s"] <= eta.p90)

    @property
    def _believed(self) -> bool:
        return self.answer.fraction is not None and self.answer.confidence > _BELIEVED

    @property
    def _fractions(self) -> list[float]:
        pairs = [(self.cut.get("current"), self.cut.get("total"))]
        pairs += self.cut.get("accept_counts") or self.log.truth.get("accept_counts") or []
        found = [self.cut.get("fraction")]
        found += [done / total for done, total in pairs if done is not None and total]
        return [one for one in found if one is not None]

    def _within(self, distance: float) -> bool:
        shown = self.answer.fraction
        known = self._fractions or [self.cut["at_fraction_of_time"]]
        return shown is not None and any(abs(shown - one) <= distance for one in known)

    def __str__(self) -> str:
        answer, share = self.answer, self.cut["at_fraction_of_time"]
        return (
            f"{self.log.name} at {share:.2f}: {answer.current}/{answer.total} {answer.unit},"
            f" {answer.phase}, {answer.format}, confidence {answer.confidence:.2f}"
        )


def looks_at(log: TimedLog) -> Iterator[Look]:
    for cut in log.truth["cuts"]:
        part = log.lines[: cut["lines"]]
        if part:
            yield Look(log, cut, _answer(log, cut, part))


def _answer(log: TimedLog, cut: dict[str, Any], part: tuple[tuple[float, str], ...]) -> Progress:
    text = "".join(f"{line}\n" for _, line in part)
    written, over = part[-1][0], bool(cut["finished"])
    quiet = max(0.0, cut["at_fraction_of_time"] * log.duration_s - written)
    answer, _ = track_with_curves(
        [(log.name, BytesIO(text.encode()))],
        written=WrittenSpan(0.0, written),
        quiet_s=_SETTLED_S if over else quiet,
        writing=lambda: not over,
        curves=False,
    )
    return answer


def main() -> None:
    command_line(__doc__, __spec__).parse_args()
    looks = [look for log in progress(tuple(timed_logs()), "logs") for look in looks_at(log)]
    running = [look for look in looks if not look.at_end]
    ends = [look for look in looks if look.at_end]
    for look in [one for one in running if not one.right] + [one for one in ends if not one.over]:
        print(f"    {look}")
    covered = [look.covered for look in running if look.covered is not None]
    print(
        f"{len(running)} looks: right {sum(one.right for one in running)},"
        f" confidently wrong {sum(one.confidently_wrong for one in running)},"
        f" over too early {sum(one.over for one in running)};"
        f" end seen {sum(one.over for one in ends)} of {len(ends)};"
        f" p10-p90 covers {sum(covered)} of {len(covered)}"
    )


if __name__ == "__main__":
    main()
