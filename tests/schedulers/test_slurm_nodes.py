"""What `scontrol show node` of a real cluster said, and what we make of it."""

import pytest

from schedmate.schedulers.slurm.nodes import node_states

REST = (
    "Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUTot=16 Gres=gpu:2 NodeHostName=vm Version=22.05.8 "
    "OS=Linux 6.1.0 #1 SMP PREEMPT_DYNAMIC @0  RealMemory=16000 State={state} ThreadsPerCore=1 "
    "Partitions=main,debug  BootTime=1794777536 SlurmdStartTime=1794799515 AllocTRES= "
    "ExtSensorsTemp=n/s"
)


def line(name, state, tail=""):
    return f"NodeName={name} {REST.format(state=state)}{tail}"


def one(state, tail=""):
    (node,) = node_states(line("node1", state, tail))
    return node


@pytest.mark.parametrize(
    ("state", "condition"),
    [
        ("IDLE", "up"),
        ("MIXED", "up"),
        ("ALLOCATED", "up"),
        ("IDLE+CLOUD+POWERED_DOWN", "up"),
        ("IDLE+MAINT+RESERVED", "up"),
        ("IDLE+DRAIN", "drain"),
        ("ALLOCATED+DRAIN", "drain"),
        ("DRAINED", "drain"),
        ("DOWN", "down"),
        ("DOWN*", "down"),
        ("IDLE*", "down"),
        ("DOWN+DRAIN", "down"),
        ("DOWN+NOT_RESPONDING", "down"),
        ("IDLE+FAIL", "down"),
        ("", "unknown"),
    ],
)
def test_conditions(state, condition):
    node = one(state)
    assert (node.condition, node.state) == (condition, state.lower())


def test_all_of_a_node_is_read():
    node = one(
        "IDLE+DRAIN",
        " Reason=gres/gpu count reported lower than configured (7 < 8) "
        "[slurm@1794799515] Comment=x",
    )
    assert (node.name, node.partitions, node.up_since) == ("node1", ("main", "debug"), 1794777536)
    assert node.reason == "gres/gpu count reported lower than configured (7 < 8)"
    assert node.since == 1794799515


def test_a_reason_cannot_forge_a_state():
    node = one("IDLE+DRAIN", " Reason=Xid 79 NodeName=n9 State=IDLE BootTime=1 [root@1794799515]")
    assert (node.name, node.condition, node.up_since) == ("node1", "drain", 1794777536)
    assert node.reason.startswith("Xid 79 NodeName=n9")


def test_other_lines_and_half_lines_are_no_nodes():
    text = "\n".join(["Node x not found", line("a", "IDLE"), "", line("b", "DOWN"), "NodeName=c"])
    assert [(node.name, node.condition) for node in node_states(text)] == [
        ("a", "up"),
        ("b", "down"),
        ("c", "unknown"),
    ]
    assert node_states("") == []
