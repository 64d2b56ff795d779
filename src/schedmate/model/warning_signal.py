"""`--signal`: what a run gets before its time limit, as Slurm writes it."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from typing import Final

from schedmate.model.batch_options import read_script_options
from schedmate.model.errors import BadInput

_SIGNAL: Final = re.compile(
    r"(?:(R?BR?|R):)?(?:SIG)?([A-Z][A-Z0-9+-]{0,12}|\d{1,2})(?:@(\d{1,5}))?",
    re.ASCII | re.IGNORECASE,
)
_BEFORE_S: Final = 60


@dataclass(frozen=True, slots=True)
class WarningSignal:
    """What a run gets so many seconds before its limit."""

    number: int
    before_s: float
    first_only: bool
    """Only the process that the job began with gets it."""

    @property
    def name(self) -> str:
        return signal.Signals(self.number).name


def read_signal(stated: str) -> WarningSignal:
    """`[B:]USR1[@SECONDS]`; BadInput for anything else."""
    found = _SIGNAL.fullmatch(stated)
    number = None if found is None else _number(found[2])
    if found is None or number is None:
        raise BadInput(f"--signal wants [B:]SIGNAL[@SECONDS], not {stated!r}")
    first_only = "B" in (found[1] or "").upper()
    return WarningSignal(number, float(found[3] or _BEFORE_S), first_only)


def signal_in_script(text: str) -> WarningSignal | None:
    """What a batch script asks for; None where it asks for none, or for none that there is."""
    options = {name: value for *_, name, value in read_script_options(text.splitlines())}
    try:
        return read_signal(options["signal"]) if "signal" in options else None
    except BadInput:
        return None


def _number(word: str) -> int | None:
    if word.isdecimal():
        return int(word) if int(word) in set(signal.Signals) else None
    name = f"SIG{word.upper()}"
    return int(signal.Signals[name]) if name in signal.Signals.__members__ else None
