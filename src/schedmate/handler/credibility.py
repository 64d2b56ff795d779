"""Which evidence may blame a node, by its reporter.

A job can print anything. Its output counts against a node only as the cause of its own
end: not against what the scheduler knows of its nodes, and not beside an exception that no
hardware brings about. What the scheduler or a system log reports is taken as it is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schedmate.handler.nodes import MAY_BE_HARDWARE, blames_a_node, node_faults
from schedmate.handler.rules import Weight
from schedmate.model import REASONS, JobState
from schedmate.model.failures import GPU_FAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.handler.case import Case
    from schedmate.handler.reading import Clue, Gathered
    from schedmate.model.diagnosis import Reporter

_SURE: Final = 0.8
_OF_THE_START: Final = frozenset({"import_error", "command_not_found", "argument_error"})
_NO_GPU: Final = re.compile(
    r"\bno (?:\w{1,20} )?(?:gpus?|cuda devices?|accelerators?)\b"
    r"|\b(?:gpus?|cuda|accelerators?)(?: devices?)? (?:(?:is|are|was|were) )?"
    r"(?:not (?:\w{1,12} )?|un)(?:found|available|visible|detected|present)"
    r"|\b(?:found|got|see|only) 0 gpus?\b|cuda\.is_available\(\)",
    re.IGNORECASE,
)


def credible(case: Case, gathered: Gathered) -> Gathered:
    """Without lines that cannot be the cause of the run's end: printed ones that blame nodes, and
    programs that did not start where the run went on to its limit."""
    errors = [clue for clue in gathered.clues if _explains_itself(clue)]
    kept = tuple(
        clue
        for clue in gathered.clues
        if not _contradicted(case, clue)
        and not _is_unrelated(clue, errors)
        and not _was_outlived(case, clue)
    )
    return gathered if len(kept) == len(gathered.clues) else replace(gathered, clues=kept)


def misses_gpu(clue: Clue) -> bool:
    """An exception of a program that finds no GPU; a fault of the node may be behind it."""
    return clue.uncaught and _NO_GPU.search(clue.message) is not None


def denies_node_failure(case: Case) -> bool:
    """The scheduler gives another end than the loss of a node, and reports no fault of one."""
    if case.state in (None, JobState.NODE_FAIL) or case.verdict == "node_failure":
        return False
    return not node_faults(case)


def further_hardware_faults(first: Clue, gathered: Gathered) -> frozenset[str]:
    """Broken hardware that may have brought the cause about, by reason."""
    may_be_its_work = first.rule.reason in MAY_BE_HARDWARE
    return frozenset(
        clue.rule.reason
        for clue in gathered.clues
        if clue.final
        and clue.rule.reason in GPU_FAULTS
        and (clue.reported_by != "job" or (may_be_its_work and not clue.went_on))
    )


def with_best_reporter(first: Clue, clues: Sequence[Clue]) -> Clue:
    """The cause with the best reporter of the same reason; a job's own word is the weakest."""
    reporters: list[Reporter] = [
        clue.reported_by for clue in clues if clue.rule.reason == first.rule.reason
    ]
    best = next((one for one in ("scheduler", "outside") if one in reporters), first.reported_by)
    return first if best == first.reported_by else replace(first, reported_by=best)


def _contradicted(case: Case, clue: Clue) -> bool:
    if clue.rule.of_a_step:
        return False
    printed = clue.reported_by == "job" and not clue.uncaught
    return printed and clue.rule.reason == "node_failure" and denies_node_failure(case)


def _was_outlived(case: Case, clue: Clue) -> bool:
    """Every rank starts the same program: what kept it from that ends a run at once, or its script
    went on with something else."""
    return case.state is JobState.TIMEOUT and clue.rule.reason in _OF_THE_START


def _is_unrelated(clue: Clue, errors: Sequence[Clue]) -> bool:
    """Whether the run ended by another error, so that this line explains nothing."""
    text = "" if clue.line is None else clue.line.text
    if clue.reported_by != "job" or not blames_a_node(clue.rule.reason, text):
        return False
    return any(other is not clue and _outweighs(other, clue) for other in errors)


def _outweighs(error: Clue, clue: Clue) -> bool:
    """A printed line never counts beside it; another traceback does, unless one process has both.

    A process ends by its last exception: earlier ones were caught, or only printed.
    """
    if not clue.uncaught:
        return True
    if error.line is None or clue.line is None or not error.uncaught:
        return False
    same_process = error.line.order == clue.line.order and error.stream == clue.stream
    return same_process and (error.line.number > clue.line.number)


def _explains_itself(clue: Clue) -> bool:
    """An error at the end of the run that is neither an echo nor the work of hardware."""
    if clue.went_on or not clue.final or clue.rule.weight is not Weight.CAUSE:
        return False
    if clue.rule.reason in MAY_BE_HARDWARE or REASONS[clue.rule.reason].category == "none":
        return False
    if misses_gpu(clue):
        return False
    own = REASONS[clue.rule.reason].retry == "no" and clue.last_words and clue.confidence >= _SURE
    return clue.uncaught or own
