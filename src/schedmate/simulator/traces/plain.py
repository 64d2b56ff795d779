"""The plain trace table as CSV."""

from __future__ import annotations

from schedmate.simulator.traces.separated import CsvFormat
from schedmate.simulator.traces.table import REQUIRED, job_of

PLAIN_CSV = CsvFormat("plain CSV", REQUIRED, job_of)
