"""What users call their jobs: rarely what they are."""

from __future__ import annotations

from schedmate.simulator.overlay.projects import Project

_NUMBERED = "#"
_GENERIC = ("train", "job", "run", "bash", "exp", "test", "main", "interactive")
_OF_SCRIPT, _OF_PROJECT, _WITH_NUMBER = 0.35, 0.6, 0.85
"""Up to which share a job is called like its script, its project, or that with a number."""


def style(project: Project, chance: float) -> str:
    """`#` stands for the number of the run."""
    if chance < _OF_SCRIPT:
        return project.script
    if chance < _OF_PROJECT:
        return project.name
    if chance < _WITH_NUMBER:
        return f"{project.name.partition('_')[0]}-{_NUMBERED}"
    return _GENERIC[int((chance - _WITH_NUMBER) / (1 - _WITH_NUMBER) * len(_GENERIC))]


def name_of(name: str, run: int) -> str:
    return name.replace(_NUMBERED, str(run))
