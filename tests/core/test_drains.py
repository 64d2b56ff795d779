"""A node is drained only where the site allows it, on strong grounds, and never many at once."""

from __future__ import annotations

import pytest

from schedmate.core import DecisionEngine, DecisionLimits, DrainLimits, NodeSeen, SuspectNode
from schedmate.model import NodeState
from schedmate.policies import ordering

SICK = {"probability": 0.97, "failures": 5, "users": 3, "newest": 77.0, "nodes": 40, "out": 1}


def decided(*, condition="up", allowed=True, **parts):
    limits = DecisionLimits(drain=DrainLimits(allowed=allowed))
    node = NodeState(name="n1", condition=condition)
    suspect = SuspectNode(node=node, **(SICK | parts))
    return DecisionEngine(ordering("fifo"), limits).handle(NodeSeen(100.0, suspect))


def test_a_sick_node_is_drained_where_that_is_allowed():
    [act] = decided()
    assert (act.action.kind, act.action.node, act.action.job_id) == ("drain", "n1", "")
    assert act.action.why == "suspect: 5 hardware-like failures of 3 users"


@pytest.mark.parametrize(
    "parts",
    [
        {"allowed": False},
        {"condition": "drain"},
        {"condition": "down"},
        {"condition": "unknown"},
        {"probability": 0.89},
        {"users": 1},
        {"out": 4},
        {"nodes": 5, "out": 1},
    ],
)
def test_any_other_is_left_as_it_is(parts):
    assert decided(**parts) == []


def test_the_same_failures_drain_a_node_once():
    first, again, more = (decided(newest=newest)[0].action.key for newest in (77.0, 77.0, 99.0))
    assert first == again != more
