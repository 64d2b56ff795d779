"""The table: from a reason and its evidence to the next step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.handler import Handler, NamedLog
from schedmate.handler.case import Case
from schedmate.handler.decision import TABLE, TABLE_VERSION, blamed_nodes, decide
from schedmate.model import REASONS, Evidence, Finding, JobState, NodeState, Workload
from schedmate.model.failures import GPU_FAULTS

NODES = ("n1", "n2", "n3", "n4")
DOWN = NodeState(name="n2", condition="down")
SAME = sorted(name for name in REASONS if REASONS[name].retry == "same")
NO = sorted(name for name in REASONS if REASONS[name].retry == "no")


def case(**parts):
    return Case(**{"state": JobState.FAILED, "nodes": NODES, **parts})


def resuming(value):
    finding = Finding(value=value, source="code", evidence=(Evidence("a", 1, "x"),), confidence=0.9)
    return Workload(resumes=finding)


@pytest.mark.parametrize("reason", REASONS)
def test_a_plain_case_is_decided_as_the_taxonomy_says(reason):
    decision = decide(reason, case(workload=resuming(value=True)))
    assert decision.retry == REASONS[reason].retry
    assert decision.why.startswith(f"{reason}: ")
    assert decision.exclude_nodes == ()


@pytest.mark.parametrize("reason", REASONS)
def test_what_was_done_is_not_done_again_whatever_failed_after_it(reason):
    decision = decide(
        reason,
        case(workload=resuming(value=True), complete=True, node_states=(DOWN,)),
        blamed=("n3",),
        also=GPU_FAULTS,
    )
    assert (decision.retry, decision.exclude_nodes) == ("no", ())


def test_only_a_step_to_other_nodes_avoids_the_blamed():
    assert decide("gpu_ecc", case(), blamed=("n3",)).exclude_nodes == ("n3",)
    assert decide("segfault", case(), blamed=("n3",)).exclude_nodes == ()
    assert decide("storage_io", case(), blamed=("n3",)).exclude_nodes == ()


def test_why_names_the_nodes_that_the_scheduler_or_others_know_of():
    nodes = tuple(f"n{number}" for number in range(10))
    assert decide("gpu_ecc", case(), blamed=("n3",)).why == "gpu_ecc: other nodes may do"
    assert decide("gpu_ecc", case()).why == "gpu_ecc: other nodes may do"
    for count, words in ((1, "n0"), (4, "n0, n1, n2, n3"), (5, "n0, n1, n2, n3 and 1 more")):
        avoided = decide("gpu_ecc", case(nodes=nodes, suspects=frozenset(nodes[:count])))
        assert avoided.why == f"gpu_ecc: other nodes may do; {words} failed others too"


def test_only_nodes_that_a_retry_avoids_are_blamed():
    decision = decide("gpu_ecc", case(), blamed=("n3",))
    assert blamed_nodes(decision, case(), ("n3",)) == ("n3",)
    assert blamed_nodes(decision, case(), ("n2", "n3")) == ()
    assert blamed_nodes(decide("segfault", case()), case(), ("n3",)) == ()


@pytest.mark.parametrize(
    ("workload", "retry", "words"),
    [
        (resuming(value=True), "resume", "go on from the last checkpoint"),
        (resuming(value=False), "no", "does not resume by itself"),
        (None, "no", "was not read"),
        (Workload(), "no", "nothing shows that it resumes"),
        (Workload(checkpoint_every=Finding(value=100, source="code")), "no", "nothing shows"),
    ],
)
def test_a_limit_is_met_again_by_a_job_that_is_not_known_to_resume(workload, retry, words):
    decision = decide("time_limit", case(workload=workload))
    assert decision.retry == retry
    assert words in decision.why
    assert decide("preempted", case(workload=workload)).retry == "resume"


def test_a_limit_without_checkpoints_suggests_more_time_or_checkpoints():
    diagnosis = Handler().diagnose(case(state=JobState.TIMEOUT, workload=Workload()))
    assert (diagnosis.reason, diagnosis.decision.retry) == ("time_limit", "no")
    assert "--time" in diagnosis.suggestion
    assert "save checkpoints" in diagnosis.suggestion


@pytest.mark.parametrize("reason", SAME)
def test_what_the_evidence_shows_to_recur_is_not_tried_again(reason):
    assert decide(reason, case(), recurs=True).retry == "no"
    assert decide(reason, case(), recurs=True, confidence=0.1).retry == "no"
    assert decide(reason, case(node_states=(DOWN,)), recurs=True).retry == "elsewhere"


@pytest.mark.parametrize("reason", SAME)
def test_hardware_that_failed_beside_it_sends_it_elsewhere(reason):
    assert decide(reason, case(), also=frozenset({"gpu_ecc"})).retry == "elsewhere"
    assert decide(reason, case(), also=frozenset({"nccl_timeout"})).retry == "same"


@pytest.mark.parametrize("reason", ["killed", "segfault", "nccl_timeout", "storage_io", "hang"])
def test_a_node_that_is_down_is_avoided_whatever_was_seen_of_it(reason):
    decision = decide(reason, case(node_states=(DOWN,)), blamed=("n3",))
    assert (decision.retry, decision.exclude_nodes) == ("elsewhere", ("n2",))
    assert "n2" in decision.why


@pytest.mark.parametrize("reason", NO)
def test_no_evidence_whatsoever_repeats_what_would_fail_again(reason):
    decision = decide(
        reason,
        case(node_states=(DOWN,), suspects=("n1",)),
        blamed=("n2",),
        also=GPU_FAULTS,
        local_disk=True,
        confidence=0.1,
    )
    assert (decision.retry, decision.exclude_nodes) == ("no", ())


def test_a_full_disk_of_one_node_is_avoided_and_waited_for():
    decision = decide("disk_full", case(nodes=("n1",)), blamed=("n1",), local_disk=True)
    assert (decision.retry, decision.exclude_nodes) == ("wait", ("n1",))
    assert decide("disk_full", case(nodes=("n1",)), blamed=("n1",)).exclude_nodes == ()


@pytest.mark.parametrize(
    ("suspects", "excluded"),
    [
        ((), ()),
        (("n2",), ("n2",)),
        (("n4", "n2"), ("n2", "n4")),
        (("n1", "n2", "n3"), ()),
        (("elsewhere",), ()),
    ],
)
def test_where_nothing_is_known_the_suspects_are_avoided_unless_they_are_too_many(
    suspects, excluded
):
    decision = decide("nccl_timeout", case(suspects=suspects))
    assert (decision.retry, decision.exclude_nodes) == ("elsewhere", excluded)
    assert decide("nccl_timeout", case(suspects=suspects), blamed=("n1",)).exclude_nodes == ("n1",)


def test_a_guess_takes_no_node_away_but_the_scheduler_may():
    guess = {"blamed": ("n1",), "confidence": 0.4}
    assert decide("gpu_ecc", case(suspects=("n1",)), **guess).exclude_nodes == ()
    assert decide("gpu_ecc", case(node_states=(DOWN,)), **guess).exclude_nodes == ("n2",)
    assert "not sure" in decide("gpu_ecc", case(), **guess).why
    assert "not sure" not in decide("gpu_oom", case(), **guess).why


reasons = st.sampled_from(sorted(REASONS))
some_nodes = st.lists(st.sampled_from(NODES), unique=True).map(tuple)
states = st.builds(
    NodeState,
    name=st.sampled_from((*NODES, "n9")),
    condition=st.sampled_from(["up", "drain", "down", "unknown"]),
    reason=st.sampled_from(["", "Xid 79", "maintenance", "requeue forever on all nodes"]),
)


evidence = st.fixed_dictionaries(
    {
        "blamed": some_nodes,
        "confidence": st.floats(0, 1),
        "also": st.frozensets(reasons),
        "local_disk": st.booleans(),
        "recurs": st.booleans(),
    }
)


@given(reasons, evidence, some_nodes, st.lists(states, max_size=4).map(tuple))
def test_whatever_the_evidence_the_laws_hold(reason, evidence, suspects, node_states):
    decision = decide(reason, case(suspects=suspects, node_states=node_states), **evidence)
    assert set(decision.exclude_nodes) <= set(NODES)
    if REASONS[reason].retry == "no" or REASONS[reason].category == "user":
        assert decision.retry == "no"
    if decision.retry not in ("elsewhere", "wait"):
        assert decision.exclude_nodes == ()


@given(reasons, evidence, some_nodes, st.lists(states, max_size=4).map(tuple))
def test_what_only_a_model_says_moves_no_job_and_blames_no_node(
    reason, evidence, suspects, node_states
):
    evidence = {**evidence, "by_model": True}
    decision = decide(reason, case(suspects=suspects, node_states=node_states), **evidence)
    assert decision.retry != "elsewhere"
    assert decision.exclude_nodes == ()


def test_the_table_has_a_version_and_an_end():
    assert TABLE_VERSION == 5
    assert TABLE[-1].retry is None


def diagnosed(*lines, **parts):
    log = NamedLog("a.log", "".join(f"{line}\n" for line in lines).encode())
    return Handler().diagnose(case(logs=(log,), exit_code=1, **parts))


def test_the_evidence_of_a_real_log_reaches_the_table():
    crash = "RuntimeError: CUDA error: an illegal memory access was encountered"
    xid = "NVRM: Xid (PCI:0000:3b:00): 94, pid=1, Contained: SM (0x1). n3"
    alone = diagnosed(crash, nodes=("n3",))
    assert (alone.reason, alone.decision.retry) == ("cuda_illegal_access", "same")
    assert alone.blame.nodes == ()
    beside = diagnosed(crash, xid, nodes=("n3",))
    assert (beside.decision.retry, beside.decision.exclude_nodes) == ("elsewhere", ("n3",))
    assert beside.blame.nodes == ("n3",)


@pytest.mark.parametrize(
    ("path", "excluded"),
    [
        ("/tmp/cache/x.bin", ("n1",)),
        ("/var/tmp/x", ("n1",)),
        ("/local_scratch/ada/x", ("n1",)),
        ("/home/ada/tmp/x", ()),
        ("/lustre/scratch/x", ()),
    ],
)
def test_a_full_disk_of_the_node_is_no_shared_one(path, excluded):
    found = diagnosed(f"OSError: [Errno 28] No space left on device: '{path}'", nodes=("n1",))
    assert (found.reason, found.decision.retry) == ("disk_full", "wait")
    assert found.decision.exclude_nodes == excluded


def test_a_node_that_the_scheduler_took_out_is_blamed_and_a_suspect_only_avoided():
    lost = "RuntimeError: NCCL communicator was aborted on rank 3: remote process exited"
    drained = NodeState(name="n2", condition="drain", reason="Xid 79: GPU has fallen off the bus")
    found = diagnosed(lost, node_states=(drained,))
    assert (found.reason, found.blame.nodes) == ("gpu_lost", ("n2",))
    assert found.decision.exclude_nodes == ("n2",)
    doubted = diagnosed(lost, suspects=("n4",))
    assert (doubted.decision.exclude_nodes, doubted.blame.nodes) == (("n4",), ())
