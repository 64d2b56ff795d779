"""What a job asks Slurm for, from the fields of squeue. Pure: text in, requests out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from schedmate.model import Request
from schedmate.schedulers.slurm import values
from schedmate.schedulers.slurm.gres import asked_shards

if TYPE_CHECKING:
    from collections.abc import Mapping

_REQUEST_FIELDS = (
    "tres-alloc",
    "tres-per-job",
    "tres-per-node",
    "NumNodes",
    "NumCPUs",
    "TimeLimit",
    "Partition",
    "ReqNodes",
    "Feature",
    "Reservation",
    "Account",
    "QOS",
    "MinTime",
)


def queued_request(record: Mapping[str, str]) -> Request:
    """Jobs that ask for the same share it."""
    return _request(*(record[name] for name in _REQUEST_FIELDS))


@lru_cache(maxsize=10_000)
def _request(*fields: str) -> Request:
    record = dict(zip(_REQUEST_FIELDS, fields, strict=True))
    resources = values.tres(record["tres-alloc"])
    nodes = values.number(record["NumNodes"]) or 1
    shards = asked_shards(record["tres-alloc"], record["tres-per-node"])
    gpus = (
        values.gpus(resources)
        or int(shards > 0)
        or values.requested_gpus(record["tres-per-job"])
        or values.requested_gpus(record["tres-per-node"]) * nodes
    )
    return Request(
        gpus=gpus,
        shards=shards,
        gpu_type=(
            values.gpu_type(resources)
            or values.requested_gpu_type(record["tres-per-job"])
            or values.requested_gpu_type(record["tres-per-node"])
        ),
        nodes=nodes,
        cpus=values.number(record["NumCPUs"]),
        memory_mb=values.megabytes(resources.get("mem", "")),
        time_limit_s=values.limit_s(record["TimeLimit"]),
        partition=record["Partition"] or None,
        required_nodes=values.expand(values.stated(record["ReqNodes"])),
        features=values.stated(record["Feature"]),
        reservation=values.stated(record["Reservation"]),
        account=values.stated(record["Account"]),
        qos=values.stated(record["QOS"]),
        time_min_s=values.limit_s(record["MinTime"]) or None,
    )
