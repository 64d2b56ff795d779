"""Completes what reading leaves open: a pointer chooses, the interpreter follows and checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from schedmate.advisor.agent.choices import choices
from schedmate.advisor.agent.fields import ASKED, Topic, open_topics
from schedmate.advisor.agent.gaps import Choice, Gap, Pointer
from schedmate.advisor.agent.named import Named, named_values
from schedmate.advisor.agent.searching import written_values
from schedmate.advisor.agent.ways import gaps_on_the_way
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.sources.words import words
from schedmate.advisor.understand.read_job import Read, ReadJob
from schedmate.model import Cost, Finding, ModelError, Workload

AGENT_VERSION: Final = "1"
"""Raised whenever a model is asked something else."""
_ONE_VOICE, _TWO_VOICES = 0.5, 0.6
_MOST_FOLLOWED: Final = 3
_ENOUGH: Final = 2
_OF_TRAINING: Final = words("epochs max_steps optimizer learning_rate batch_size model dataset")


@dataclass(slots=True)
class Agent:
    """For one job; `problem` is what kept the pointer from answering."""

    pointer: Pointer
    asked: Collection[str] = ASKED
    problem: ModelError | None = None
    also_read: set[str] = field(default_factory=set)

    @property
    def kind(self) -> str:
        return f"asked {AGENT_VERSION}"

    @property
    def cost(self) -> Cost:
        return self.pointer.cost

    def complete(self, job: ReadJob, read: Read) -> ReadJob:
        """With what is found behind the gaps; what reading knows is never touched."""
        try:
            job = self._follow(job, read)
            found = self._pick(job)
            return replace(job, workload=replace(job.workload, **found))
        except ModelError as error:
            self.problem = error
            return job

    def _follow(self, job: ReadJob, read: Read) -> ReadJob:
        """Gap by gap; what does not make the record fuller is not believed."""
        closed: set[str] = set()
        for _ in range(_MOST_FOLLOWED):
            ways = [
                way for way in gaps_on_the_way(job.launch, job.files) if way.gap.key not in closed
            ]
            if not ways:
                break
            way = ways[0]
            closed.add(way.gap.key)
            pointed = self.pointer.point(job.words, job.workload, [way.gap]).get(way.gap.key)
            launch = None if pointed is None else way.follow(pointed.choice)
            if launch is not None:
                again = read(launch)
                gained = _known(again.workload) - _known(job.workload)
                if _trains(again.workload) and (gained > 0 or (gained == 0 and way.was_guessed)):
                    job = again
        return job

    def _pick(self, job: ReadJob) -> dict[str, Finding[Any]]:
        gaps = field_gaps(job, self.asked)
        if not gaps:
            return {}
        return {
            name: _finding(each.choice, _TWO_VOICES if each.voices > 1 else _ONE_VOICE)
            for name, each in self.pointer.point(job.words, job.workload, gaps).items()
        }


def field_gaps(job: ReadJob, asked: Collection[str] = ASKED) -> list[Gap]:
    """Open fields for which some value is in sight."""
    topics = open_topics(job.workload, asked)
    if job.run is None or not topics:
        return []
    offered = _offered(job, job.run, topics)
    return [
        Gap(topic.field, topic.gloss, tuple(offered[topic.field]))
        for topic in topics
        if topic.field in offered
    ]


def _offered(job: ReadJob, run: PythonRun, topics: list[Topic]) -> Mapping[str, list[Choice]]:
    """What was interpreted; where nothing was, what is written in the files."""
    interpreted = named_values(run, job.trace)
    offered = {topic.field: choices(topic, interpreted) for topic in topics}
    if not all(offered.values()):
        both: list[Named] = [*interpreted, *written_values(job.settings())]
        for topic in topics:
            if not offered[topic.field] and topic.field != "task":
                offered[topic.field] = choices(topic, both)
    return {name: each for name, each in offered.items() if each}


def _trains(workload: Workload) -> bool:
    return sum(getattr(workload, name) is not None for name in _OF_TRAINING) >= _ENOUGH


def _known(workload: Workload) -> int:
    return sum(getattr(workload, each.name) is not None for each in fields(workload))


def _finding(choice: Choice, confidence: float) -> Finding[Any]:
    return Finding(value=choice.value, source="llm", evidence=(choice.line,), confidence=confidence)
