"""Synthetic workloads for traces, which have no code: which training each job might have been."""

from schedmate.simulator.synthetic.drawing import draw_workload
from schedmate.simulator.synthetic.interference import WorkloadPhysics
from schedmate.simulator.synthetic.projects import Project, bank
from schedmate.simulator.synthetic.workload import (
    Assumptions,
    SyntheticSubmission,
    SyntheticWorkload,
)

__all__ = [
    "Assumptions",
    "Project",
    "SyntheticSubmission",
    "SyntheticWorkload",
    "WorkloadPhysics",
    "bank",
    "draw_workload",
]
