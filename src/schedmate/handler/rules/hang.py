"""A run that stopped moving; the tracker sees it, the log may say why."""

from schedmate.handler.case import Case
from schedmate.handler.rules.base import Rule
from schedmate.model import JobState

RULES = (
    Rule(
        reason="hang",
        predicate=lambda case: case.hung,
        confidence=0.8,
        positives=(Case(hung=True), Case(hung=True, state=JobState.RUNNING)),
        negatives=(Case(state=JobState.RUNNING),),
    ),
)
