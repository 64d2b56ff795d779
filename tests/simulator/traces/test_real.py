"""The public traces themselves, where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedmate.simulator import read_trace
from schedmate.simulator.traces.openb import read_nodes

pytestmark = pytest.mark.slow

BESIDE = Path(__file__).parents[4] / "shared" / "data"
TRACES = Path(os.environ.get("SCHEDMATE_DATA", BESIDE)) / "traces"


def at_hand(name: str) -> Path:
    path = TRACES / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"{name} is not here; SCHEDMATE_DATA says where to look")
    return path


@pytest.mark.parametrize(
    ("name", "jobs", "left_out"),
    [
        ("philly_2017_jobs", 82_247, {}),
        ("philly_15k_status", 15_000, {}),
        ("helios_15k_status", 10_796, {"ask for no GPU": 4204}),
        ("alibaba_openb_2023_pods", 6203, {"ask for no GPU": 1088, "never ran": 861}),
        ("lsf_dtu_jobs", 260, {"ask for no GPU": 2181}),
        ("ms_itp_2021", 46_897, {}),
        ("alcf_thetagpu", 22_606, {}),
    ],
)
def test_every_row_of_a_public_trace_is_accounted_for(name, jobs, left_out):
    trace = read_trace(at_hand(name))

    assert (len(trace.jobs), trace.left_out, trace.bad_rows) == (jobs, left_out, ())


def test_the_nodes_of_openb_have_gpus_of_several_kinds():
    nodes = read_nodes(at_hand("alibaba_openb_2023_nodes"))

    assert sum(node.gpus for node in nodes) == 6212
    assert {"P100", "V100M16", "T4"} <= {node.gpu_type for node in nodes}
