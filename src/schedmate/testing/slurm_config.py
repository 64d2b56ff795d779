"""The configuration files of the private Slurm cluster, tuned for impatient tests."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CLUSTER = "private"
GPU_TYPE = "a100"
SHARDS_A_GPU = 4
"""In how many parts a GPU is lent to jobs that ask for parts."""
_CAN_SWITCH_CGROUPS_OFF = 24
"""The major version from which slurmd insists on control groups unless configured otherwise."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "shm")
"""Slurm wants a device file for each GPU; these are on every machine and are harmless."""


@dataclass(frozen=True, slots=True)
class Ports:
    controller: int
    accounting: int
    rest: int
    nodes: tuple[int, ...]

    @classmethod
    def free(cls, nodes: int) -> Ports:
        sockets = [socket.socket() for _ in range(nodes + 3)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        controller, accounting, rest, *others = (one.getsockname()[1] for one in sockets)
        for one in sockets:
            one.close()
        return cls(controller, accounting, rest, tuple(others))


class ClusterShape(Protocol):
    """What the files are about."""

    directory: Path
    nodes: tuple[str, ...]
    gpus_per_node: int
    ports: Ports
    has_rest: bool
    name: str
    settings: Mapping[str, str]

    @property
    def munge_socket(self) -> Path: ...

    @property
    def accounting_port(self) -> int: ...


def files(cluster: ClusterShape, host: str, major: int) -> dict[str, str]:
    return {
        "slurm.conf": _with_settings(_slurm_conf(cluster, host), cluster.settings),
        "slurmdbd.conf": _slurmdbd_conf(cluster, host),
        "gres.conf": f"AutoDetect=off\n{_gpus(cluster.gpus_per_node)}"
        f"Name=shard Count={SHARDS_A_GPU * cluster.gpus_per_node}\n",
        "cgroup.conf": "CgroupPlugin=disabled\n" if major >= _CAN_SWITCH_CGROUPS_OFF else "",
    }


def _gpus(count: int) -> str:
    return "".join(f"Name=gpu Type={GPU_TYPE} File=/dev/{name}\n" for name in _DEVICES[:count])


def _with_settings(conf: str, settings: Mapping[str, str]) -> str:
    kept = [line for line in conf.splitlines() if line.partition("=")[0] not in settings]
    return "\n".join([*kept, *(f"{name}={value}" for name, value in settings.items()), ""])


def _slurm_conf(cluster: ClusterShape, host: str) -> str:
    home = cluster.directory
    nodes = "\n".join(
        f"NodeName={node} NodeHostname={host} NodeAddr=localhost Port={port} CPUs=16 "
        f"RealMemory=16000 Gres=gpu:{GPU_TYPE}:{cluster.gpus_per_node},"
        f"shard:{SHARDS_A_GPU * cluster.gpus_per_node} State=UNKNOWN"
        for node, port in zip(cluster.nodes, cluster.ports.nodes, strict=True)
    )
    return f"""\
ClusterName={cluster.name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={cluster.ports.controller}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={cluster.munge_socket}
{_tokens(cluster)}StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool/%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.%n.pid
ReturnToService=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,bf_continue,sched_interval=1,sched_min_interval=100000
PriorityType=priority/multifactor
PriorityWeightAge=1000
# a nice value can lower a priority only as far as 1: there must be something to lower
PriorityWeightPartition=1000000
GresTypes=gpu,shard
JobRequeue=1
MinJobAge=3600
MaxJobCount=50000
KillWait=1
MessageTimeout=10
SlurmdTimeout=15
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={cluster.accounting_port}
# with munge this is the path of the socket, not a password
AccountingStoragePass={cluster.munge_socket}
AccountingStorageTRES=gres/gpu,gres/gpu:{GPU_TYPE},gres/shard
# the real machine is smaller than the pretended nodes
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 DefMemPerCPU=100 State=UP
"""


def _tokens(cluster: ClusterShape) -> str:
    """What slurmrestd's users show; without the plugin no daemon would start with these lines."""
    if not cluster.has_rest:
        return ""
    key = f"jwt_key={cluster.directory}/jwt.key"
    return f"AuthAltTypes=auth/jwt\nAuthAltParameters={key}\n"


def _slurmdbd_conf(cluster: ClusterShape, host: str) -> str:
    return f"""\
AuthType=auth/munge
AuthInfo=socket={cluster.munge_socket}
{_tokens(cluster)}DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={cluster.ports.accounting}
SlurmUser=root
PidFile={cluster.directory}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
"""
