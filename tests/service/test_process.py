"""How the daemon's process shares the interpreter and gives memory back."""

import gc
import subprocess
import sys
import weakref

import pytest

from schedmate.service.daemon.process import MemoryTrim, take_short_turns, uncollected


@pytest.fixture(autouse=True)
def as_it_was():
    turn, threshold, frozen = sys.getswitchinterval(), gc.get_threshold(), gc.get_freeze_count()
    yield
    sys.setswitchinterval(turn)
    gc.set_threshold(*threshold)
    if not frozen:
        gc.unfreeze()
    gc.enable()


def test_turns_are_short():
    take_short_turns()
    assert sys.getswitchinterval() == pytest.approx(0.0005)


def test_nothing_is_collected_at_the_start_and_all_of_it_is_left_out_later():
    frozen = gc.get_freeze_count()
    with uncollected():
        assert not gc.isenabled()
        made = [[] for _ in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= frozen + len(made)


def test_an_error_at_the_start_leaves_the_collector_on():
    with pytest.raises(ZeroDivisionError), uncollected():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_memory_is_given_back_now_and_then(monkeypatch):
    clock, trimmed = [100.0], []
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    memory = MemoryTrim()
    memory._trim = trimmed.append
    for clock[0] in (100.0, 101.0, 104.0, 105.0, 109.0):
        memory.consider()
    assert len(trimmed) == 2


class Node:
    """With a reference to itself: only the collector frees it."""

    def __init__(self):
        self.me = self


def test_what_is_garbage_for_long_is_freed_in_minutes_also_where_little_happens(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    gc.disable()  # as good as: no request makes twenty thousand objects
    memory, node = MemoryTrim(), Node()
    gone = weakref.ref(node)
    gc.collect()  # it is old by now
    del node
    for clock[0] in range(100, 800, 60):
        memory.consider()
    assert gone() is None


@pytest.mark.processes
def test_freed_memory_really_leaves_the_process():
    code = """if True:
        import os
        from schedmate.service.daemon.process import MemoryTrim, bound_arenas
        def used():
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        bound_arenas()
        blocks = [bytes(50_000) for _ in range(2000)]
        last = bytes(50_000)
        del blocks
        before = used()
        MemoryTrim().consider()
        print(before - used())
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 50_000_000


@pytest.mark.processes
def test_pages_begin_without_what_only_predictions_and_simulations_need():
    heavy = (
        *("numpy", "schedmate.simulator", "schedmate.llm.endpoint", "schedmate.advisor.advisor"),
        *("schedmate.handler.rules", "schedmate.tracker.formats"),
    )
    code = f"import sys, schedmate.web.server; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
