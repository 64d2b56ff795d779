"""Where many questions are answered: this process, all cores of this machine, or a Ray cluster.

Answers come back in the order of the questions and are the same wherever they come from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from schedmate.simulator.sweeps.answering import Answer, OnProgress, answer
from schedmate.simulator.sweeps.question import Question, named

OnDone = Callable[[int, int], None]


def answers(
    questions: Sequence[Question],
    *,
    reported: frozenset[int] = frozenset(),
    workers: int | None = None,
    ray_address: str | None = None,
    on_done: OnDone | None = None,
    on_progress: OnProgress | None = None,
) -> list[Answer]:
    """All of them; those numbered in `reported` with what a report needs.

    `on_done` hears how many of how many are answered; `on_progress` how far one is, where they
    are answered in this process.
    """
    hands = min(workers or os.cpu_count() or 1, len(questions))
    if ray_address is not None:
        from schedmate.simulator.sweeps.ray_cluster import on_ray  # noqa: PLC0415 - seldom wanted

        given = on_ray(questions, reported, ray_address)
    elif hands > 1:
        from schedmate.simulator.sweeps.processes import in_processes  # noqa: PLC0415 - slow to load

        given = in_processes(questions, reported, hands)
    else:
        given = _here(questions, reported, on_progress)
    found: dict[int, Answer] = {}
    for number, each in given:
        found[number] = each
        if on_done is not None:
            on_done(len(found), len(questions))
    return [found[number] for number in range(len(questions))]


def _here(
    questions: Sequence[Question], reported: frozenset[int], on_progress: OnProgress | None
) -> Iterator[tuple[int, Answer]]:
    for number, question in enumerate(questions):
        with named(question):
            yield number, answer(question, reported=number in reported, on_progress=on_progress)
