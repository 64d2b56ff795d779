"""The model's file from where the user says: a path or a URL."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedmate.llm.client import http
from schedmate.model import BadInput, ModelError, NotFound
from schedmate.model.redaction import redact

if TYPE_CHECKING:
    from schedmate.llm.embedded.files import ModelFiles
    from schedmate.llm.embedded.wheels import OnProgress

_PATIENCE_S = 60.0
_WHOLE, _PART, _NOTHING_MORE = 200, 206, 416


def link_or_copy(source: Path, files: ModelFiles) -> None:
    """Put the user's file at `files.incoming`."""
    wanted = files.manifest.size
    if not source.exists():
        raise NotFound(f"there is no file {source}")
    if not source.is_file():
        raise BadInput(f"{source} is not a file")
    if source.stat().st_size != wanted:
        raise BadInput(
            f"{source} is not {files.manifest.file_name}: it has {source.stat().st_size} bytes, "
            f"not {wanted}"
        )
    if source.stat().st_uid == os.geteuid():  # another user could change a file we only link to
        try:
            files.incoming.hardlink_to(source.resolve())
        except OSError:
            pass
        else:
            return
    shutil.copyfile(source, files.incoming)


def download(url: str, files: ModelFiles, on_progress: OnProgress) -> None:
    """Fetch into `files.partial`, going on where an interrupted install stopped."""
    httpx = http()
    start = files.partial.stat().st_size if files.partial.exists() else 0
    if start == files.manifest.size:
        return
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        with httpx.stream(
            "GET", url, headers=headers, follow_redirects=True, timeout=_PATIENCE_S
        ) as response:
            _save(response, url, files, on_progress)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ModelError(
            f"fetching {redact(url)} broke off ({error or type(error).__name__}); "
            "run the install again to go on from here"
        ) from error


def _save(response: Any, url: str, files: ModelFiles, on_progress: OnProgress) -> None:
    wanted = files.manifest.size
    done = _first_byte(response, url, files)
    length = response.headers.get("Content-Length")
    if length is not None and done + int(length) != wanted:
        raise BadInput(f"{redact(url)} is not {files.manifest.file_name}: its size is different")
    with files.partial.open("ab") as partial:
        partial.truncate(done)
        for chunk in response.iter_raw():
            done += partial.write(chunk)
            if done > wanted:
                partial.truncate(0)
                raise BadInput(f"{redact(url)} is not {files.manifest.file_name}: it is larger")
            on_progress(done, wanted)
    if done < wanted:
        raise ModelError(f"fetching {redact(url)} broke off; run the install again to go on")


def _first_byte(response: Any, url: str, files: ModelFiles) -> int:
    """Where in the file the answer begins."""
    if response.status_code == _PART:
        return files.partial.stat().st_size
    if response.status_code == _WHOLE:
        return 0
    if response.status_code == _NOTHING_MORE:
        files.partial.unlink()
    raise ModelError(f"{redact(url)} cannot be fetched: HTTP {response.status_code}")
