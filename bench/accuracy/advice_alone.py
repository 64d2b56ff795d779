"""A model alone, as the paper has it: the run command, the tree, and files that it reads itself."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from schedmate.advisor import Target
from schedmate.advisor.record_agent.agent import desk_of
from schedmate.advisor.record_agent.checking import normal_text
from schedmate.advisor.record_agent.diff import FIELDS_TEXT, FieldName
from schedmate.advisor.settle.meanings import Meaningless, meaning
from schedmate.agents import Bounds, read_on
from schedmate.model import Asker, Cost, Evidence, Finding, Workload

_TURNS = 10
_CHARACTERS = 60_000
_SYSTEM = f"""\
You read a training job's script, configs and code and fill in its record. The command line beats \
configs, which beat defaults in the code. Fields:
{FIELDS_TEXT}
A field that no line of the job states or implies is left out; a library's own default does not \
count; what only a comment says does not count. Answer with the fields that are stated: each with \
its value in the form above, and the file and line that state it (`<command>` for the command \
line)."""


class Stated(BaseModel):
    model_config = ConfigDict(extra="forbid")
    field: FieldName  # type: ignore[valid-type]  # made of the record's names
    value: str | int | float | bool
    file: str
    line: int


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid")
    fields: list[Stated] = Field(max_length=40)


def record_alone(asker: Asker, target: Target) -> tuple[Workload, Cost]:
    """What it answers, in normal form and otherwise as it says."""
    desk = desk_of(target.files, _CHARACTERS)
    prompt = f"# COMMAND\n{' '.join(target.command)}\n\n# FILES\n{desk.list_files('')}"
    talk = read_on(
        asker,
        Record,
        prompt,
        desk=desk,
        purpose="advise",
        system=_SYSTEM,
        bounds=Bounds(turns=_TURNS, max_tokens=2500),
    )
    found: dict[str, Finding[Any]] = {}
    for stated in talk.answer.value.fields:
        line = Evidence(stated.file, stated.line, "")
        value = _normal(stated.field, stated.value)
        found.setdefault(stated.field, Finding(value=value, source="llm", evidence=(line,)))
    return Workload(**found), talk.answer.cost


def _normal(field: str, value: Any) -> Any:
    """In the form that the other methods' values have; what makes no sense stays as it is."""
    if isinstance(value, bool) or field == "max_time_s":
        return value
    try:
        return normal_text(field, value) if isinstance(value, str) else meaning(field, field, value)
    except Meaningless:
        return value
