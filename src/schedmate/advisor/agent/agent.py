"""Fills what reading leaves open, by asking a model which of the values in sight is meant."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from schedmate.advisor.agent.choices import Choice, choices
from schedmate.advisor.agent.fields import ASKED, Topic, open_topics
from schedmate.advisor.agent.named import Named, named_values
from schedmate.advisor.agent.question import PURPOSE, SYSTEM, Question
from schedmate.advisor.agent.searching import written_values
from schedmate.advisor.agent.steps import MAX_TOKENS, STEPPING, Search, Step
from schedmate.advisor.agent.tools import Desk
from schedmate.advisor.agent.voting import vote
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.launch.run import Launch, PythonRun
from schedmate.advisor.sources.files import Files, SourceFile
from schedmate.model import Asker, Cost, Finding, ModelError, Workload

T = TypeVar("T", bound=BaseModel)

_ONE_VOICE, _TWO_VOICES = 0.5, 0.6
_CONFIGS: Final = (".yaml", ".yml", ".toml", ".json", ".cfg", ".ini")
_LONGEST_CONFIG: Final = 50_000


@dataclass(frozen=True, slots=True)
class Seen:
    """A job as it was read, before anybody was asked."""

    launch: Launch
    run: PythonRun
    trace: Trace
    files: Files

    @property
    def words(self) -> str:
        known = [word.text for word in self.run.arguments if word.known]
        return " ".join([self.run.entry.name, *known])

    def settings(self) -> Iterator[SourceFile]:
        """Without code that may be there for other jobs."""
        for source in self.sources():
            if not source.name.endswith(".py") or source.name == self.run.entry.name:
                yield source

    def sources(self) -> Iterator[SourceFile]:
        """Scripts, what they write, configs, code: only files that the job is seen to use."""
        yield from self.launch.scripts
        yield from self.files.written.values()
        read = [path for path, digest in self.files.seen.items() if digest is not None]
        wanted = [path for path in read if path.suffix in (*_CONFIGS, ".py")]
        for path in sorted(wanted, key=lambda path: path.suffix == ".py"):
            source = self.files.read(path, inside=self.files.roots)
            if source is not None and (path.suffix == ".py" or len(source.text) < _LONGEST_CONFIG):
                yield source


@dataclass(slots=True)
class Agent:
    """For one job. `steps` is how often a model may look around by itself, which small ones
    cannot; `problem` is what kept it from answering. No call begins after `seconds`."""

    asker: Asker
    steps: int = 0
    asked: Collection[str] = ASKED
    seconds: float = 180.0
    cost: Cost = field(default_factory=Cost)
    problem: ModelError | None = None
    _ends: float = 0.0

    def fill(self, workload: Workload, seen: Seen) -> Workload:
        """The same record with open fields filled; what is known is never touched."""
        topics = open_topics(workload, self.asked)
        if not topics:
            return workload
        self._ends = time.monotonic() + self.seconds
        found: dict[str, Finding[Any]] = {}
        try:
            found |= self._pick(workload, seen, topics)
            found |= self._look_around(workload, seen, topics, found)
        except ModelError as error:
            self.problem = error
        return replace(workload, **found)

    @property
    def in_time(self) -> bool:
        return time.monotonic() < self._ends

    def _pick(self, workload: Workload, seen: Seen, topics: list[Topic]) -> dict[str, Finding[Any]]:
        offered = _offered(seen, topics)
        if not offered:
            return {}
        shown = [topic for topic in topics if topic.field in offered]
        picked = vote(Question(seen.words, workload, shown, offered), self)
        return {
            name: _finding(each.choice, _TWO_VOICES if each.voices > 1 else _ONE_VOICE)
            for name, each in picked.items()
        }

    def _look_around(
        self,
        workload: Workload,
        seen: Seen,
        topics: list[Topic],
        found: Mapping[str, Finding[Any]],
    ) -> dict[str, Finding[Any]]:
        left = [topic for topic in topics if topic.field not in found]
        left = open_topics(replace(workload, **found), [topic.field for topic in left])
        if not (self.steps and left and self.in_time):
            return {}
        used = frozenset(source.name for source in seen.sources())
        search = Search(Desk(replace(seen.files, seen={})), used, self.steps)
        stated = search.run(seen.words, left, self._step)
        return {name: _finding(choice, _ONE_VOICE) for name, choice in stated.items()}

    def _step(self, prompt: str) -> Step:
        return self._ask(Step, prompt, STEPPING, MAX_TOKENS)

    def put(self, question: Question) -> dict[str, Choice | None]:
        """Ask it; what was picked by field."""
        answer = self._ask(question.schema, question.prompt, SYSTEM, question.max_tokens)
        return question.read(answer)

    def _ask(self, schema: type[T], prompt: str, system: str, max_tokens: int) -> T:
        answer = self.asker.ask(
            schema, prompt, purpose=PURPOSE, system=system, max_tokens=max_tokens
        )
        self.cost = Cost(
            seconds=self.cost.seconds + answer.cost.seconds,
            llm_calls=self.cost.llm_calls + answer.cost.llm_calls,
            llm_tokens=self.cost.llm_tokens + answer.cost.llm_tokens,
        )
        return answer.value


def _offered(seen: Seen, topics: list[Topic]) -> dict[str, list[Choice]]:
    """What was interpreted; where nothing was, what is written in the files."""
    interpreted = named_values(seen.run, seen.trace)
    offered = {topic.field: choices(topic, interpreted) for topic in topics}
    if not all(offered.values()):
        both: list[Named] = [*interpreted, *written_values(seen.settings())]
        for topic in topics:
            if not offered[topic.field] and topic.field != "task":
                offered[topic.field] = choices(topic, both)
    return {name: each for name, each in offered.items() if each}


def _finding(choice: Choice, confidence: float) -> Finding[Any]:
    return Finding(value=choice.value, source="llm", evidence=(choice.line,), confidence=confidence)
