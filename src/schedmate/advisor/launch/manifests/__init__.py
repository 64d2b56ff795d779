"""Job files that are no shell scripts, one file a kind: what they start and what they ask for."""

from __future__ import annotations

from schedmate.advisor.launch.manifests import compose, condor, kubernetes, task_files
from schedmate.advisor.launch.manifests.base import Described, Mounts
from schedmate.advisor.launch.manifests.dockerfile import (
    Image,
    image_of,
    is_definition,
    is_dockerfile,
)
from schedmate.advisor.launch.manifests.documents import Part, documents
from schedmate.advisor.sources.files import SourceFile

__all__ = [
    "Described",
    "Image",
    "Mounts",
    "describe",
    "image_of",
    "is_definition",
    "is_dockerfile",
]

_DOCUMENTS = (".yaml", ".yml", ".json")


def describe(source: SourceFile, service: str | None = None) -> list[Described] | None:
    """The commands of a job file; None where it is a script, or no file of a job at all.

    `service` is the one of a compose file that is meant.
    """
    if is_dockerfile(source) or is_definition(source):
        return [Described(image=source.name, in_container=True)]
    if source.name.endswith((".sub", ".condor", ".submit", ".jdl")):
        return condor.described(source) if condor.is_submit_file(source) else None
    if not source.name.endswith(_DOCUMENTS):
        return None
    return _of_documents(documents(source), service)


def _of_documents(parts: list[Part], service: str | None) -> list[Described]:
    manifests = [part for part in parts if kubernetes.is_manifest(part)]
    if manifests or not parts:
        return kubernetes.described(manifests)
    if compose.is_compose(parts[0]):
        return compose.described(parts[0], service)
    return task_files.described(parts[0]) if task_files.is_task(parts[0]) else []
