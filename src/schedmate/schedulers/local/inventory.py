"""The devices of this machine as the daemon hands them out: what there is, and what is free.

nvidia-smi is asked in the background, only while somebody waits for a GPU; while it does not
answer, its last answer counts. Where that is not quite new, a runner looks once more who uses its
GPUs, after it has locked them.
"""

from __future__ import annotations

import logging
import socket
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.schedulers.local import gpu_record, nvidia_smi
from schedmate.schedulers.local.attempt import GpuCheck
from schedmate.schedulers.local.devices import (
    Device,
    choose,
    devices_of,
    is_gpu,
    variables_of,
)
from schedmate.schedulers.local.gpu_answer import GpuAnswer
from schedmate.schedulers.local.gpu_drains import GpuDrains
from schedmate.schedulers.local.gpu_locks import lock_directory, lock_path
from schedmate.schedulers.local.gpu_record import (
    GpuRecord,
    Withheld,
    locked_gpus,
    read_record,
    write_record,
)
from schedmate.schedulers.local.outsiders import LEAST_MB, Outsiders, outsiders_on
from schedmate.schedulers.local.processes import is_of_runs, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from schedmate.config import LocalSettings
    from schedmate.schedulers.local.entry import QueueEntry
    from schedmate.schedulers.local.layout import Layout

_EVERY_S = 5.0
_FRESH_S = 10.0
"""An answer that is older says nothing about who uses the GPUs now."""
_DEADLINE_S = 10.0
_NEW_S = 1.0
"""An answer that is older is checked by the runner."""
_REFUSED_S = 5.0
"""How long a GPU is not tried again that a runner could not have."""
_log = logging.getLogger("schedmate.local")


class Inventory:
    """`on_answer` is called from another thread when there is something new to hand out."""

    def __init__(
        self,
        layout: Layout,
        settings: LocalSettings,
        on_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self._layout = layout
        self._settings = settings
        self._on_answer = on_answer
        self._host = socket.gethostname()
        self._locks = lock_directory(settings.lock_dir)
        self._drains = GpuDrains(layout.gpu_drains)
        self._outsiders = Outsiders()
        self._answer = read_record(layout.gpu_record).answer
        self._devices = self._known_devices()
        self._asked_at = self._heard_at = 0.0
        self._asking: _Asking | None = None
        self._held: frozenset[str] = frozenset()
        self._held_when_asked: frozenset[str] = frozenset()
        self._refused: dict[str, tuple[float, str]] = {}
        self._recorded = GpuRecord()
        self._suspected = False
        if not gpu_record.is_installed():
            self._take_in(GpuAnswer(), 0.0)

    @property
    def devices(self) -> tuple[Device, ...]:
        return self._devices

    def configure(self, settings: LocalSettings) -> None:
        """New settings, from now on; what runs keeps what it has."""
        self._settings = settings
        self._devices = self._known_devices()

    def _known_devices(self) -> tuple[Device, ...]:
        """None before the first answer: a job that asks for a GPU must not start on a slot."""
        if not self._answer.devices and not self._answer.trouble and gpu_record.is_installed():
            return ()
        return devices_of(self._settings, self._answer.devices)

    def refresh(self, now: float, held: Collection[str], *, wanted: bool) -> float | None:
        """Take in what nvidia-smi has answered, ask again where that is due; when to come back.

        `held` are the devices of the runs; `wanted`: a job waits for a GPU.
        """
        self._held = frozenset(held)
        if self._asking is not None and self._asking.answer is not None:
            answer, self._asking = self._asking.answer, None
            self._take_in(answer, now)
        due = wanted and (now - self._asked_at >= _EVERY_S or now < self._asked_at)
        if (due or self._suspected) and self._asking is None and gpu_record.is_installed():
            self._asked_at = now
            self._suspected = False
            self._held_when_asked = self._held
            self._asking = _Asking(self._on_answer)
        self._record(now)
        return now + _EVERY_S if wanted and any(one.is_gpu for one in self._devices) else None

    def free(self, now: float) -> list[Device]:
        """What may be handed out now: neither held, nor used, locked or left out."""
        withheld = self.withheld(now)
        known = self._knows_users(now)
        return [
            one
            for one in self._devices
            if one.name not in self._held
            and (not one.is_gpu or (known and one.name not in withheld))
        ]

    def note_failure(self, names: Sequence[str]) -> None:
        """A run with these devices failed: they may have, and are asked soon."""
        failed = gpu_record.is_installed() and any(map(is_gpu, names))
        self._suspected = self._suspected or failed

    @property
    def is_curious(self) -> bool:
        """Whether it wants to be refreshed though no job waits."""
        return self._suspected or self._asking is not None

    def _knows_users(self, now: float) -> bool:
        """A tool that is not there, or does not answer in time, holds nobody up for ever."""
        if not gpu_record.is_installed() or 0 <= now - self._heard_at < _FRESH_S:
            return True
        return self._asking is not None and now - self._asked_at > _DEADLINE_S

    def withheld(self, now: float) -> dict[str, Withheld]:
        """The GPUs that are kept back, each with the reason."""
        gpus = [one for one in self._devices if one.is_gpu]
        found: dict[str, Withheld] = {}
        for name, (since, why) in list(self._refused.items()):
            if now - since < _REFUSED_S:
                found[name] = Withheld(kind="locked", why=why)
            else:
                del self._refused[name]
        found |= locked_gpus(self._locks, gpus)
        for name, by in self._outsiders.using(now).items():
            found[name] = Withheld(kind="used", by=by)
        for name, drain in self._drains.all().items():
            found[name] = Withheld(kind="drained", why=drain.reason)
        ours = {one.name for one in gpus} - self._held
        return {name: why for name, why in found.items() if name in ours}

    def choose(self, entry: QueueEntry, free: Sequence[Device]) -> tuple[str, ...] | None:
        """The names of those that the job gets; None where they do not suffice."""
        return choose(entry.request, free, self._devices, self._host)

    def variables(self, names: Sequence[str]) -> dict[str, str]:
        """Where none is handed out, those that the machine has are hidden all the same."""
        return variables_of(names, self._devices or self._answer.devices)

    def locks(self, names: Sequence[str]) -> tuple[str, ...]:
        """The files that a run with these devices must lock, in one order for all."""
        if self._locks is None:
            return ()
        known = {one.name: one for one in self._devices}
        gpus = [known[name] for name in names if name in known and known[name].is_gpu]
        return tuple(sorted(str(lock_path(self._locks, one)) for one in gpus))

    def check_before_start(self, names: Sequence[str], now: float) -> GpuCheck | None:
        """None where the last answer is new, or the tool cannot tell them apart (MIG)."""
        known = {one.name: one for one in self._devices}
        given = [known[name] for name in names if name in known]
        uuids = [one.uuid for one in given if not one.parent and one.maker == "nvidia"]
        command = nvidia_smi.apps_command()
        if command is None or not any(uuids) or 0 <= now - self._answer.at < _NEW_S:
            return None
        return GpuCheck(command=command, uuids=tuple(filter(None, uuids)), least_mb=LEAST_MB)

    def refused(self, names: Sequence[str], why: str, now: float) -> None:
        """A runner could not have them; who has them is asked soon."""
        self._refused |= dict.fromkeys(names, (now, why))
        self.note_failure(names)

    def _record(self, now: float) -> None:
        """Write down for the verbs what is known, where that has changed."""
        if not any(one.is_gpu for one in self._devices):
            return
        record = GpuRecord(answer=self._answer, withheld=self.withheld(now))
        if record != self._recorded:
            write_record(self._layout.gpu_record, record)
            self._recorded = record

    def _is_ours(self, pid: int) -> bool:
        return is_of_runs(pid, self._layout.spool or self._layout.root)

    def _take_in(self, answer: GpuAnswer, now: float) -> None:
        self._heard_at = now
        if answer.trouble:
            _log.warning("%s; the last answer counts", answer.trouble)
        self._answer = answer.after(self._answer)
        self._devices = self._known_devices()
        if not answer.uses:
            return
        ours = self._held | self._held_when_asked
        self._outsiders.note(
            {
                name: outsiders_on(
                    use,
                    ours=name in ours,
                    owner_of=owner_of,
                    is_ours=self._is_ours if name in ours else _is_nobodys,
                )
                for name, use in answer.uses.items()
            },
            answer.at,
        )
        self._drains.note_errors(answer.uses, now)


def _is_nobodys(_: int) -> bool:
    """A GPU that no run has is used by whoever is on it."""
    return False


class _Asking:
    """One question to nvidia-smi, in a thread: a process that hangs in the kernel stays there."""

    def __init__(self, on_answer: Callable[[], None]) -> None:
        self.answer: GpuAnswer | None = None
        self._on_answer = on_answer
        threading.Thread(target=self._ask, name="nvidia-smi", daemon=True).start()

    def _ask(self) -> None:
        try:
            self.answer = gpu_record.ask(_DEADLINE_S)
        except (OSError, ValueError) as error:
            self.answer = replace(GpuAnswer(), trouble=f"the GPUs' tool cannot be run: {error}")
        self._on_answer()
