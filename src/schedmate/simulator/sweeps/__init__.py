"""Many settings at once: what to vary, where they run, what comes back."""

from schedmate.simulator.sweeps.execution import SimulationResult, expected_s, run_task
from schedmate.simulator.sweeps.saving import save, unusable
from schedmate.simulator.sweeps.tasks import (
    SYNTHETIC,
    VARIED,
    SimulationTask,
    settings_of,
    varied,
)
from schedmate.simulator.sweeps.workers import run_tasks

__all__ = [
    "SYNTHETIC",
    "VARIED",
    "SimulationResult",
    "SimulationTask",
    "expected_s",
    "run_task",
    "run_tasks",
    "save",
    "settings_of",
    "unusable",
    "varied",
]
