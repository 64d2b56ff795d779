"""The GPUs of this machine for those who submit and look: what a job may ask for, and each GPU as
a node that can be blamed, excluded and left out."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model.errors import BadInput, NotFound, SchedulerError
from schedmate.schedulers.local.devices import (
    NO_GPUS,
    Device,
    bound_of,
    configured_gpus,
    devices_of,
    kept_from,
    node_of,
    suitable,
    visible_gpus,
)
from schedmate.schedulers.local.gpu_drains import Drain, GpuDrains
from schedmate.schedulers.local.gpu_locks import lock_directory
from schedmate.schedulers.local.gpu_record import GpuRecord, Withheld, known_gpus, locked_gpus
from schedmate.schedulers.local.outsiders import name_users, outsiders_on
from schedmate.schedulers.local.processes import booted_at, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from schedmate.config import LocalSettings
    from schedmate.model import NodeState
    from schedmate.model.job import Request
    from schedmate.schedulers.local.gpu_answer import GpuAnswer
    from schedmate.schedulers.local.layout import Layout
    from schedmate.schedulers.local.outsiders import Outsider

_LISTED_S = 12 * 3600.0
"""How long it may be known which GPUs there are: whoever submits does not wait for nvidia-smi."""
_MEASURED_S = 15.0
_HIDES_ALL = (None, "", "-1", "NoDevFiles")
"""What a caller writes who wants no GPU."""


class GpuNodes:
    """`held` are the GPUs of our own runs."""

    def __init__(
        self, layout: Layout, settings: LocalSettings, host: str, held: Callable[[], set[str]]
    ) -> None:
        self._layout = layout
        self._settings = settings
        self._host = host
        self._held = held
        self._drains = GpuDrains(layout.gpu_drains)

    def asked_for(self, request: Request, env: Mapping[str, str]) -> Request:
        """What is queued: a GPU where nothing is said of any, and none but those that the
        caller's CUDA_VISIBLE_DEVICES shows. A SchedMateError where that can never be had."""
        devices = self._devices()
        if not devices and not request.no_gpus and self._settings.gpus != (NO_GPUS,):
            named = ", ".join(self._settings.gpus)
            raise BadInput(f"local.gpus names {named}, which this machine does not list")
        gpus = [one for one in devices if one.is_gpu]
        name, variable = bound_of({} if "SCHEDMATE_JOB_ID" in env else env, gpus)
        seen = gpus if variable is None else visible_gpus(variable, gpus)
        names_others = not request.no_gpus and variable not in _HIDES_ALL
        if gpus and not seen and (request.gpus or names_others):
            raise BadInput(
                f"{name}={variable} shows none of this machine's GPUs: unset it, or submit with "
                "--gpus 0"
            )
        if seen and not request.gpus and not request.no_gpus:
            request = replace(request, gpus=1)
        if not request.gpus:
            return request
        hidden = {one.name for one in gpus} - {one.name for one in seen}
        bounded = kept_from(request, [node_of(self._host, name) for name in sorted(hidden)])
        self._check(bounded, devices, bounded_by=name if hidden else "")
        return bounded

    def _check(self, request: Request, devices: Sequence[Device], *, bounded_by: str) -> None:
        for node in (*request.required_nodes, *request.exclude_nodes):
            self._name(node)
        fitting = suitable(request, devices, self._host)
        if request.gpus <= len(fitting):
            return
        kind = f" of type {request.gpu_type}" if request.gpu_type else ""
        kinds = sorted({one.kind for one in devices if one.kind})
        known = f" ({', '.join(kinds)})" if kinds and request.gpu_type else ""
        where = f"{bounded_by} allows" if bounded_by else "this machine hands out"
        asks = f"it asks for {request.gpus} GPU{'s' * (request.gpus > 1)}{kind}"
        raise SchedulerError(f"{asks}, {where} {len(fitting)}{known}")

    def check_exclusion(self, request: Request, nodes: Sequence[str]) -> None:
        """That a job can still start when it is kept from these too."""
        left = suitable(kept_from(request, nodes), self._devices(), self._host)
        if len(left) < request.gpus:
            named = ", ".join(nodes)
            raise SchedulerError(
                f"it needs {request.gpus} GPUs and would have {len(left)} left without {named}"
            )

    def may_run_on(self, request: Request, node: str) -> bool:
        """Of a job without GPUs the machine, else each GPU that it allows."""
        devices = self._devices()
        if not request.gpus or not any(one.is_gpu for one in devices):
            return node == self._host
        fitting = suitable(request, devices, self._host)
        return node in (node_of(self._host, one.name) for one in fitting)

    def states(self) -> list[NodeState]:
        from schedmate.model import NodeState  # noqa: PLC0415 - submitting needs none of it

        up_since = booted_at()
        machine = NodeState(name=self._host, condition="up", state="up", up_since=up_since)
        record = self._measured()
        self._drains.note_errors(record.answer.uses, time.time())
        drains = self._drains.all()
        found = [machine]
        for one in devices_of(self._settings, record.answer.devices):
            if one.is_gpu:
                gpu = replace(machine, name=node_of(self._host, one.name), features=(one.kind,))
                found.append(_as_it_is(gpu, one.name, record, drains.get(one.name)))
        return found

    def drain(self, node: str, reason: str) -> None:
        self._drains.drain(self._name(node), reason, time.time())

    def resume(self, node: str, reason: str) -> None:
        self._drains.resume(self._name(node), reason)

    def why_waiting(self, request: Request) -> str:
        """Which GPUs that it could have are kept back, and for whom; empty where none is."""
        record = self._known(_LISTED_S)
        devices = devices_of(self._settings, record.answer.devices)
        fitting = suitable(request, devices, self._host) if request.gpus else []
        if not any(one.is_gpu for one in fitting):
            return ""
        if len(fitting) < request.gpus:
            return f"of {request.gpus} GPUs that it asks for, {len(fitting)} are handed out now"
        kept = {one.name: why for one in fitting if (why := record.withheld.get(one.name))}
        held = self._held() if kept else set()
        by_kind: dict[str, dict[str, tuple[Outsider, ...]]] = {
            "held by running jobs": {one.name: () for one in fitting if one.name in held},
            **{
                words: {name: one.by for name, one in kept.items() if one.kind == kind}
                for kind, words in _KEPT_BACK.items()
            },
        }
        return ", ".join(
            f"{len(those)} of {len(fitting)} GPUs {'is' if len(those) == 1 else 'are'} "
            f"{words}{name_users(those)}"
            for words, those in by_kind.items()
            if those
        )

    def trouble(self) -> str:
        """What is not known of the GPUs, or cannot be done with them."""
        answer = self._measured().answer
        gpus, unknown = configured_gpus(self._settings.gpus, answer.devices)
        words = []
        if answer.trouble:
            words.append(f"{answer.trouble}: GPUs are handed out by its last answer")
        if unknown:
            words.append(f"local.gpus names {', '.join(unknown)}, which this machine does not list")
        if (gpus or answer.devices) and lock_directory(self._settings.lock_dir) is None:
            words.append("GPUs are not locked for other accounts: set local.lock_dir")
        return "; ".join(words)

    def busy(self) -> dict[str, float]:
        """How busy each GPU is, from 0 to 1, by its name."""
        uses = self._measured().answer.uses
        return {name: use.busy for name, use in uses.items() if use.busy is not None}

    def _measured(self) -> GpuRecord:
        return self._known(_MEASURED_S)

    def _devices(self) -> tuple[Device, ...]:
        return devices_of(self._settings, self._known(_LISTED_S).answer.devices)

    def _known(self, max_age_s: float) -> GpuRecord:
        path = self._layout.gpu_record
        return known_gpus(path, max_age_s=max_age_s, withheld=self._withheld)

    def _withheld(self, answer: GpuAnswer) -> dict[str, Withheld]:
        """Without the patience of a daemon, which has seen who used them before."""
        held = self._held()
        devices = devices_of(self._settings, answer.devices)
        gpus = [one for one in devices if one.is_gpu and one.name not in held]
        users = {
            one.name: outsiders_on(
                answer.uses[one.name], ours=False, owner_of=owner_of, is_ours=lambda _: False
            )
            for one in gpus
            if one.name in answer.uses
        }
        used = {name: Withheld(kind="used", by=by) for name, by in users.items() if by}
        return locked_gpus(lock_directory(self._settings.lock_dir), gpus) | used

    def _name(self, node: str) -> str:
        names = [one.name for one in self._devices() if one.is_gpu]
        found = node.removeprefix(f"{self._host}:")
        if found not in names:
            listed = ", ".join(node_of(self._host, name) for name in names) or "none"
            raise NotFound(f"there is no GPU {node} here; there are: {listed}")
        return found


_KEPT_BACK = {
    "used": "used by others",
    "locked": "locked by another account",
    "drained": "left out (see schedmate nodes)",
}


def _as_it_is(gpu: NodeState, name: str, record: GpuRecord, drain: Drain | None) -> NodeState:
    use = record.answer.uses.get(name)
    if use is not None:
        gpu = replace(gpu, hosts=(use.pci,) if use.pci else (), busy=use.busy)
    if drain is not None:
        return replace(
            gpu, condition="drain", state="drained", reason=drain.reason, since=drain.since
        )
    busy = "" if gpu.busy is None else f", {gpu.busy:.0%}"
    return replace(gpu, state=f"up{busy}", reason=_reason(record.withheld.get(name)))


def _reason(why: Withheld | None) -> str:
    if why is None:
        return ""
    return why.why or f"{_KEPT_BACK[why.kind]}{name_users({'': why.by})}"
