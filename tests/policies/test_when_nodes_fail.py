"""A node fails under the larger policies: who was on it runs again, and nobody waits for ever."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.runs import Shared, columns, rows, seen
from schedmate.policies import POLICIES
from schedmate.policies.lucid import Lucid
from schedmate.policies.lucid_parts import Profiling
from schedmate.simulator.engine.cluster import Nodes
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.engine.faults import Fault


def policy(name: str):
    if name != "lucid":
        return POLICIES[name]()
    short = Profiling(seconds=5.0, share=0.2, most=0.2)
    return Lucid(profiling=short, few_an_hour=0, unpack_below=1.95, watch_s=3.0)


@pytest.mark.parametrize("name", ["multifactor", "gittins", "lucid", "gavel", "pollux", "sia"])
@settings(max_examples=15, deadline=None)
@given(jobs=rows(most=10), node=st.integers(0, 1), at=st.integers(1, 60), down=st.integers(1, 90))
def test_everybody_ends_after_all_of_its_work(name, jobs, node, at, down):
    table = columns(jobs)
    engine = SimulationEngine(
        table,
        seen(table),
        policy(name),
        Nodes([4, 4]),
        physics=Shared(table.gpus.tolist(), packed=0.9),
        restart_s=2.0,
        faults=[Fault(node=node, at=float(at), until=float(at + down))],
    )
    outcome = engine.run()

    assert (outcome.end > outcome.start).all()
    assert (outcome.start >= table.submit).all()
    assert outcome.gpu_seconds.sum() >= table.gpu_seconds * 0.5 - 1e-6
    assert (engine.free, list(engine.running())) == (engine.gpus, [])
