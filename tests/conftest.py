"""What holds for the whole suite: its tiers, which tests share a worker, and patience.

`--fast` leaves out all that is marked as costly, and fails a test that starts a process, opens a
connection or takes long without such a mark.
"""

from __future__ import annotations

import gc
import multiprocessing.util
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings, strategies

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # beside other workers, threads of a library spin in vain

HERE = Path(__file__).parent
COSTLY = {"slow", "processes", "slurm", "browser", "embedded", "frameworks"}
WHOLLY_COSTLY = re.compile(rf"^pytestmark = .*mark\.({'|'.join(COSTLY)})\b", re.MULTILINE)
"""What stands in a file that is marked as a whole."""
STARTING = {"place": "processes", "slurm_cluster": "slurm"}
"""Fixtures that start processes, and the mark of who asks for them."""

TOGETHER = {
    f"schedulers/test_slurm_{name}.py": "slurm"
    for name in ("activity", "browser", "contract", "live", "owners", "rights", "safety", "service")
} | {f"web/browser/test_{name}.py": "browser" for name in ("accessibility", "flows", "large_log")}
"""Files that share what is dear to start, so that one worker runs them all."""
LONGEST = (
    *("schedulers/test_slurm_preemption.py", "schedulers/test_slurm_faults.py"),
    *("demo/test_whole_demo.py", "schedulers/test_slurm_wrong_retries.py", "slurm", "frameworks"),
    *("service/test_hangs.py", "scripts/test_service_under_systemd.py"),
    *("bench/test_strategies.py", "embedded", "simulator/experiments/test_explained.py"),
    "docs/test_pages.py",
)
"""What takes longest starts first, so that no worker is left with it at the end."""
WAITING = re.compile(
    r"^(slurm|browser|(tests/)?(demo|frameworks|scripts|schedulers|web|examples|service)/test_\w+)"
)
"""Of what tests share a worker for: what mostly waits for other processes."""

BUDGET_S = 1.0
"""How much of the processor a test may take that is not marked as costly."""
STARTS = {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty"}
CONNECTS = {"socket.connect", "socket.bind"}

# a busy machine is slow, not wrong; a test of speed counts processor time
settings.register_profile(
    "patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
EXAMPLES = 20
"""How many a property is shown at most with `--fast`."""
settings.register_profile("fast", settings.get_profile("patient"), max_examples=EXAMPLES)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fast", action="store_true", help=f"leave out what is marked {', '.join(sorted(COSTLY))}"
    )


def pytest_configure(config: pytest.Config) -> None:
    gc.set_threshold(50_000, 20, 20)  # a suite makes many objects and keeps few
    os.environ.pop("COLUMNS", None)  # a worker's is 80, and what is printed goes to a pipe
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skipped(config))
    settings.load_profile("fast" if config.getoption("--fast") else "patient")
    if config.getoption("--fast"):
        config.pluginmanager.register(NothingCostly())


class Skipped:
    """Keeps how many tests were skipped for which reason; `scripts/check` prints it last."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reasons: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            self._reasons[report.longrepr[2].removeprefix("Skipped: ")] += 1

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self._config, "cache", None)  # none with -p no:cacheprovider
        if cache is not None:
            cache.set("suite/skipped", self._reasons)


class NothingCostly:
    """While a test runs, no process may be started, no connection opened, and little computed."""

    def __init__(self) -> None:
        self._running = False
        self._began = 0.0
        sys.addaudithook(self._look)
        spawn = multiprocessing.util.spawnv_passfds

        def look(*args: Any) -> object:
            self._look("subprocess.Popen", args)  # of which multiprocessing tells no audit hook
            return spawn(*args)

        multiprocessing.util.spawnv_passfds = look

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._running = True
        self._began = time.process_time()
        try:
            return (yield)
        finally:
            self._running = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        result = yield
        used_s = time.process_time() - self._began
        if used_s > BUDGET_S:
            pytest.fail(
                f"{used_s:.1f} s of the processor, of {BUDGET_S:g} s that a test without a mark may"
                " take: make it cheaper, or mark it `slow`",
                pytrace=False,
            )
        return result

    def _look(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._running and (event in STARTS or (event in CONNECTS and _is_inet(arguments[1]))):
            raise AssertionError(f"{event} in a test that is not marked `processes`")


def _is_inet(address: object) -> bool:
    """A socket in the file system has a path for its address."""
    return isinstance(address, tuple)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file whose tests are all left out need not be imported."""
    if not config.getoption("--fast") or collection_path.suffix != ".py":
        return None
    return True if WHOLLY_COSTLY.search(collection_path.read_text("utf-8")) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in STARTING.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(STARTING[fixture])
    items.sort(key=_turn)
    if config.getoption("--fast"):
        costly = [item for item in items if _marks(item) & COSTLY]
        config.hook.pytest_deselected(items=costly)
        items[:] = [item for item in items if not _marks(item) & COSTLY]
        for item in items:
            _show_fewer_examples(item)


def _show_fewer_examples(item: pytest.Item) -> None:
    """Also to a property with settings of its own, which know no profile."""
    function = getattr(item, "function", None)
    own = getattr(function, "_hypothesis_internal_use_settings", None)
    if own is not None and own.max_examples > EXAMPLES:
        function._hypothesis_internal_use_settings = settings(own, max_examples=EXAMPLES)


def pytest_collection_finish() -> None:
    """No test pays for what all share: a clone's first text makes a table of Unicode, for a second
    of the processor, and what was imported and collected is no garbage to search again."""
    strategies.text().validate()
    gc.collect()
    gc.freeze()


def _marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


def _file(item: pytest.Item) -> str:
    return item.path.relative_to(HERE).as_posix()


def _turn(item: pytest.Item) -> int:
    places = [LONGEST.index(name) for name in {_file(item), *_marks(item)} if name in LONGEST]
    return min(places, default=len(LONGEST))


def worker_of(nodeid: str) -> str:
    """Tests with the same answer run in one worker; by default a file's, with their fixtures."""
    file = nodeid.partition("::")[0].removeprefix(f"{HERE.name}/")
    return TOGETHER.get(file, file)


def waits(scope: str) -> bool:
    return WAITING.match(scope) is not None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 - one file needs no workers

    class WaitingBesideComputing(LoadScopeScheduling):
        """As many workers as there are cores compute, while the others run tests that wait."""

        _split_scope = staticmethod(worker_of)

        def _assign_work_unit(self, node: Any) -> None:
            self.workqueue.move_to_end(self._next_scope(node), last=False)
            super()._assign_work_unit(node)

        def _next_scope(self, node: Any) -> str:
            waiting = [scope for scope in self.workqueue if waits(scope)]
            computing = [scope for scope in self.workqueue if not waits(scope)]
            others = (work for other, work in self.assigned_work.items() if other is not node)
            at_it = sum(any(map(waits, _unfinished(work))) for work in others)
            may_wait = at_it < len(self.assigned_work) - len(os.sched_getaffinity(0))
            return (waiting if waiting and (may_wait or not computing) else computing)[0]

    return WaitingBesideComputing(config, log)


def _unfinished(work: dict[str, dict[str, bool]]) -> Iterator[str]:
    return (scope for scope, done in work.items() if not all(done.values()))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Children end by Ctrl-C, also where the suite runs in the background and ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
