"""A history in memory: what predictions ask of one, at the speed that a simulation takes."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from itertools import islice

from schedmate.model import Fingerprint, Job, JobState, PastRun
from schedmate.model.sketch import Sketch, blocks, configuration, packed, sketch_of_run

_REPEATS = 20
_MOST = 300
_ENOUGH = 24
"""Configurations that are considered, the most particular keys first. The store considers up to 300
of every key: they add little, and take most of the time."""
_CODE = 1
"""The place of the code's key, where the code is known."""


class RunMemory:
    """Fulfils `History` as far as predictions ask it."""

    def __init__(self, *, enough: int = _ENOUGH) -> None:
        self._enough = enough
        self._runs: list[PastRun] = []
        self._rows: list[bytes] = []
        self._configurations: list[int] = []
        self._repeats: dict[int, deque[int]] = defaultdict(lambda: deque(maxlen=_REPEATS))
        self._blocks: dict[int, dict[int, int]] = defaultdict(dict)
        self._of_code: set[int] = set()
        """Keys of code; runs of it that went well are enough by themselves."""
        self._went_well: set[int] = set()
        self._learnt: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def keep(self, run: PastRun, sketch: Sketch | None = None) -> None:
        """Runs come in the order in which they end; `sketch` where it is known already."""
        sketch, number = sketch or sketch_of_run(run), len(self._runs)
        row = packed(number, run, sketch)
        config = configuration(row)
        self._runs.append(run)
        self._rows.append(row)
        self._configurations.append(config)
        self._repeats[config].append(number)
        if run.job.state is JobState.COMPLETED:
            self._went_well.add(config)
        keys = blocks(sketch, config)
        if sketch.code:
            self._of_code.add(keys[_CODE])
        for key in keys:
            block = self._blocks[key]
            block.pop(config, None)
            block[config] = number

    def sketches(self, keys: Sequence[int], *, limit: int = _MOST) -> bytes:
        return self._joined(self._candidates(keys, limit))

    def _candidates(self, keys: Sequence[int], limit: int) -> dict[int, None]:
        found: dict[int, None] = {}
        for key in keys:
            block = self._blocks.get(key, {})
            found.update(dict.fromkeys(block[config] for config in self._newest(block, limit)))
            well = any(self._configurations[each] in self._went_well for each in found)
            if len(found) >= self._enough or (key in self._of_code and well):
                break
        return found

    def repeats(self, numbers: Sequence[int], *, limit: int) -> bytes:
        return self._joined(self._repeated(numbers, limit))

    def _repeated(self, numbers: Sequence[int], limit: int) -> dict[int, None]:
        same = (self._repeats[self._configurations[number]] for number in numbers)
        return dict.fromkeys(number for each in same for number in list(each)[-limit:])

    def newest_sketches(self, limit: int) -> bytes:
        return b"".join(reversed(self._rows[-limit:]))

    def runs_numbered(self, numbers: Sequence[int]) -> list[PastRun]:
        return [self._runs[number] for number in numbers]

    def recent_runs(self, *, user: str | None = None, limit: int = 1000) -> list[PastRun]:
        runs = (run for run in reversed(self._runs) if user is None or run.job.user == user)
        return list(islice(runs, limit))

    def recent_jobs(self, *, limit: int) -> list[Job]:
        return [run.job for run in self.recent_runs(limit=limit)]

    def runs_with_fingerprint(self, fingerprint: Fingerprint) -> list[PastRun]:
        return [run for run in reversed(self._runs) if run.fingerprint == fingerprint]

    def runs_of_code(self, code: str) -> list[PastRun]:
        prints = ((run, run.fingerprint) for run in reversed(self._runs))
        return [run for run, marks in prints if marks is not None and marks.code == code]

    def learnt(self, name: str) -> str | None:
        return self._learnt.get(name)

    def keep_learnt(self, name: str, body: str, *, at: float) -> None:  # noqa: ARG002 - the newest is all there is
        self._learnt[name] = body

    def failure_reason(self, run: PastRun) -> str | None:  # noqa: ARG002 - none was diagnosed
        return None

    def _newest(self, block: dict[int, int], limit: int = _MOST) -> list[int]:
        return list(islice(reversed(block), min(limit, self._enough)))

    def _joined(self, numbers: dict[int, None]) -> bytes:
        return b"".join(self._rows[number] for number in numbers)
