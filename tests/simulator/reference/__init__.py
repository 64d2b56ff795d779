"""An independent, slow simulator: second by second, everything scanned, nothing clever.

Times are whole seconds, durations at least one. It shares no line with the simulator it checks.
"""

from __future__ import annotations

from simulator.reference.clock import RefJob, play
from simulator.reference.rules import RULES

__all__ = ["RULES", "RefJob", "play"]
