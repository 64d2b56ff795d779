"""From what a job starts to what it is: its files are read, never run."""

from __future__ import annotations

import re

from schedmate.advisor.frameworks import GPU_PACKAGES
from schedmate.advisor.launch import Launch
from schedmate.advisor.modules import Unparsable
from schedmate.advisor.project import gather, parse_project
from schedmate.advisor.record import read_workload
from schedmate.advisor.sources import Files
from schedmate.advisor.understanding import Understanding
from schedmate.model import Request

_USES_GPU = re.compile(
    rf"cuda|gpu|nvidia|nccl|rocm|\b(?:{'|'.join(sorted(GPU_PACKAGES))})\b", re.IGNORECASE
)


def understand(
    launch: Launch, files: Files, request: Request
) -> tuple[Understanding, tuple[Unparsable, ...]]:
    """What the files tell, and those of them that are no Python."""
    project = gather(files, launch)
    parsed = parse_project(project, launch)
    understood = Understanding(
        workload=read_workload(launch, parsed.reading, request),
        code=tuple(sorted(source.digest for source in project.code)),
        configs=tuple(source.digest for source in project.configs),
        mentions_gpu=any(_USES_GPU.search(source.text) for source in project.code),
    )
    return understood, parsed.problems
