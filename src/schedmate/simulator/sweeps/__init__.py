"""Many settings at once: what to vary, where they run, what comes back."""

from schedmate.simulator.sweeps.answering import Answer, answer
from schedmate.simulator.sweeps.question import SYNTHETIC, VARIED, Question, settings_of, varied
from schedmate.simulator.sweeps.saving import save, unusable
from schedmate.simulator.sweeps.workers import answers

__all__ = [
    "SYNTHETIC",
    "VARIED",
    "Answer",
    "Question",
    "answer",
    "answers",
    "save",
    "settings_of",
    "unusable",
    "varied",
]
