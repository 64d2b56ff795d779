"""Synthetic workloads for traces, which have no code: which training each job might have been."""

from schedmate.simulator.synthetic.drawing import draw_workload
from schedmate.simulator.synthetic.interference import WorkloadPhysics
from schedmate.simulator.synthetic.levers import NO_LEVERS, JobLevers, Levers, draw_levers
from schedmate.simulator.synthetic.projects import Project, bank
from schedmate.simulator.synthetic.workload import (
    Assumptions,
    SyntheticSubmission,
    SyntheticWorkload,
)

__all__ = [
    "NO_LEVERS",
    "Assumptions",
    "JobLevers",
    "Levers",
    "Project",
    "SyntheticSubmission",
    "SyntheticWorkload",
    "WorkloadPhysics",
    "bank",
    "draw_levers",
    "draw_workload",
]
