"""Meaning for traces that have none: which training a trace's job might have been."""

from schedmate.simulator.overlay.assumptions import Assumptions
from schedmate.simulator.overlay.laying import overlay
from schedmate.simulator.overlay.meaning import Meaning, Work
from schedmate.simulator.overlay.packing import Meant
from schedmate.simulator.overlay.projects import Project, bank

__all__ = ["Assumptions", "Meaning", "Meant", "Project", "Work", "bank", "overlay"]
