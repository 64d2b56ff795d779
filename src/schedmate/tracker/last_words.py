"""Lines with which logs end, as far as they stand at the end of this one."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedmate.model import Phase

_MAX_LENGTH, _MAX_KINDS, _MAX_AFTER = 80, 16, 12
_NO_DIGITS = str.maketrans("", "", "0123456789.:")


_MAX_EVALUATED = 4


@dataclass(slots=True)
class StatedEnd:
    """A line that states that the training is over, or has failed."""

    phase: Phase | None = None
    counts: int = 0
    """How many lines had counted something then, ..."""
    at: int = 0
    """... and how many there were."""
    survived: int = 0
    """How often much was counted after such a line: it ends a part of the run."""

    def see(self, phase: Phase, order: int, counts: int) -> None:
        self.survived += self.phase == phase and counts - self.counts > _MAX_EVALUATED
        self.phase, self.at, self.counts = phase, order, counts

    def stands(self, phase: Phase, counts: int) -> bool:
        """With no more than a last evaluation after it."""
        return self.phase == phase and counts - self.counts <= _MAX_EVALUATED


@dataclass(slots=True)
class LastWords:
    """A kind of line that comes again and again between counts is no last word."""

    at: int = 0
    counts: int = 0
    kinds: list[str] = field(default_factory=list)

    def see(self, text: str, order: int, counts: int) -> None:
        kind = text.translate(_NO_DIGITS)[:_MAX_LENGTH]
        if counts > 0 and self.counts == 0:
            self.at, self.kinds = 0, []  # what ended before was the start-up
        if kind not in self.kinds:
            self.at, self.counts = order, counts
            self.kinds = [*self.kinds, kind][-_MAX_KINDS:]
        elif counts == 0 or self.counts != counts:
            self.at = 0

    def stand(self, order: int, counts: int) -> bool:
        """Among the last lines, with nothing counted since."""
        return bool(self.at) and order - self.at <= _MAX_AFTER and counts == self.counts
