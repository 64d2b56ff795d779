"""Which nodes a job's own request allows, and how far a job may be set back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model import NodeState, Request
from schedmate.model.priority import NICE_RANGE
from schedmate.schedulers.slurm.constraints import allows, has_features
from schedmate.schedulers.slurm.nodes import node_states
from schedmate.schedulers.slurm.site import SlurmSite

NODE = NodeState(name="n1", condition="up", partitions=("main", "gpu"), features=("a100", "ib"))


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        (Request(), True),
        (Request(partition="gpu,other"), True),
        (Request(partition="other"), False),
        (Request(exclude_nodes=("n1",)), False),
        (Request(exclude_nodes=("n2",)), True),
        (Request(features="a100"), True),
        (Request(features="h100"), False),
        (Request(reservation="course"), False),
    ],
)
def test_what_a_job_asks_for_allows_a_node(request_, allowed):
    assert allows(request_, NODE) is allowed


def test_a_reserved_node_is_for_those_with_the_reservation():
    reserved = NodeState(name="n1", condition="up", reservations=("course",))
    assert allows(Request(reservation="course"), reserved)
    assert not allows(Request(), reserved)


@pytest.mark.parametrize(
    ("expression", "met"),
    [
        ("", True),
        ("a100&ib", True),
        ("a100,ib", True),
        ("a100&roce", False),
        ("h100|a100", True),
        ("(h100|a100)&ib", True),
        ("(h100|v100)&ib", False),
        ("h100|a100&roce", False),
        ("[a100|ib]", False),
        ("a100*2", False),
        ("a100&", False),
        ("(a100", False),
        ("a100)", False),
        ("&a100", False),
    ],
)
def test_features(expression, met):
    assert has_features(expression, ("a100", "ib")) is met


@given(st.text(alphabet="ab&|()[]*2, ", max_size=30))
def test_no_expression_is_too_odd(expression):
    assert has_features(expression, ("a",)) in (True, False)


def test_features_and_reservations_of_nodes_are_read():
    reservations = (
        "ReservationName=course StartTime=1 Nodes=n[1-2] NodeCnt=2 State=ACTIVE Users=root\n"
        "ReservationName=later StartTime=9 Nodes=n1 NodeCnt=1 State=INACTIVE Users=root\n"
    )
    lines = [f"NodeName=n{n} ActiveFeatures=a100,ib State=IDLE Partitions=main" for n in (1, 3)]
    first, third = node_states("\n".join(lines), reservations)
    assert (first.features, first.reservations) == (("a100", "ib"), ("course",))
    assert third.reservations == ()
    (bare,) = node_states("NodeName=n1 ActiveFeatures=(null) State=IDLE", "No reservations")
    assert (bare.features, bare.reservations) == ((), ())


def config(**values):
    said = {"PriorityType": "priority/multifactor", "PriorityWeightAge": "0", **values}
    return "".join(f"{name:<24}= {value}\n" for name, value in said.items())


def test_no_job_is_set_back_by_more_than_ageing_gives_back():
    assert SlurmSite.read(config(PriorityWeightAge="5000")).nice_range == 5000
    assert SlurmSite.read(config()).nice_range == NICE_RANGE
    basic = config(PriorityType="priority/basic", PriorityWeightAge="5000")
    assert SlurmSite.read(basic).nice_range == NICE_RANGE
    assert SlurmSite.read(config(PriorityWeightAge="5000"), 70).nice_range == 70
    assert SlurmSite.read(
        config(AccountingStorageType="accounting_storage/slurmdbd")
    ).has_accounting
