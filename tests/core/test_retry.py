"""From a decision and the history of the job to the next step."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.core import Attempt, DecisionLimits, NodeChoice, Reached, plan_retry
from schedmate.model import REASONS, Blame, Decision, Evidence
from schedmate.testing.builders import a_diagnosis

LIMITS = DecisionLimits(retries=2, retries_in_all=6)
RETRIED = sorted(name for name in REASONS if REASONS[name].retry != "no")


def plan(*diagnoses, limits=LIMITS, nodes=(), reached=(), **words):
    """What follows from attempts that died of these, the last of them just now."""
    attempts = {
        number: Attempt(
            diagnosis=diagnosis,
            nodes=nodes[number] if nodes else (),
            reached=reached[number] if reached else Reached(),
        )
        for number, diagnosis in enumerate(diagnoses)
        if diagnosis is not None
    }
    return plan_retry(attempts, len(diagnoses) - 1, limits=limits, **words)


def steps(began, done, saved=None, **parts):
    return Reached(unit="step", began=began, done=done, saved=saved, **parts)


def saying(reason, text, **parts):
    return a_diagnosis(reason, evidence=(Evidence("a.log", 1, text),), **parts)


def avoiding(*nodes, reason="gpu_ecc"):
    decision = Decision(retry="elsewhere", exclude_nodes=nodes, why="sick")
    return a_diagnosis(reason, blame=Blame(nodes=nodes), decision=decision)


@pytest.mark.parametrize("reason", REASONS)
def test_what_usually_helps_decides_about_the_first_retry(reason):
    assert plan(a_diagnosis(reason)).again is (REASONS[reason].retry != "no")


@pytest.mark.parametrize(
    ("attempt", "budget", "again"),
    [(0, 0, False), (0, 1, True), (1, 1, False), (1, 2, True), (2, 2, False), (7, 2, False)],
)
def test_the_budget_ends_it(attempt, budget, again):
    made = plan(*[None] * attempt, a_diagnosis(), limits=DecisionLimits(retries=budget))

    assert made.again is again
    assert made.used == attempt
    if not again:
        assert (made.code, made.allowed) == ("retries_used", budget)


def test_different_failures_in_a_row_use_up_the_same_budget():
    failures = [a_diagnosis("segfault"), a_diagnosis("storage_io"), a_diagnosis("gpu_ecc")]

    assert plan(*failures[:2]).again
    assert not plan(*failures).again


# the same failure at the same place


@pytest.mark.parametrize(
    ("now", "again"),
    [
        (a_diagnosis("segfault"), False),
        (a_diagnosis("segfault", summary="other words about it"), False),
        (saying("segfault", "other place"), True),
        (a_diagnosis("cuda_error"), True),
    ],
    ids=["same", "same-other-words", "other-place", "other-reason"],
)
def test_the_same_failure_at_the_same_place_twice_stops_it(now, again):
    assert plan(a_diagnosis("segfault"), now).again is again


def test_it_is_the_same_place_on_another_line_of_another_process():
    before = a_diagnosis("segfault", evidence=(Evidence("a.log", 10, "boom in 0x7f12, pid 17"),))
    now = a_diagnosis("segfault", evidence=(Evidence("b.log", 12, "boom in 0x7f98, pid 4711"),))

    assert not plan(before, now).again


def test_signatures_say_what_is_the_same_where_there_are_any():
    one, other = saying("segfault", "x", signature="a"), saying("segfault", "y", signature="a")

    assert not plan(one, other).again
    assert plan(one, replace(other, signature="b")).again
    assert plan(one, replace(other, signature="")).again


def test_the_same_failure_with_another_in_between_is_still_the_same():
    failures = [a_diagnosis("segfault"), a_diagnosis("killed"), a_diagnosis("segfault")]

    assert plan(*failures, limits=DecisionLimits(retries=5)).code == "same_failure"


def test_the_place_of_a_nodes_fault_is_the_node():
    assert plan(avoiding("n1"), avoiding("n2")).again
    assert not plan(avoiding("n1"), avoiding("n1")).again
    hang = a_diagnosis("hang")
    assert plan(hang, hang, nodes=[("n1",), ("n2",)]).again
    assert not plan(hang, hang, nodes=[("n1",), ("n1",)]).again


@pytest.mark.parametrize("reason", ["service_unreachable", "disk_full", "preempted"])
def test_what_was_waited_for_may_be_away_again(reason):
    assert plan(a_diagnosis(reason), a_diagnosis(reason)).again


# progress


def test_a_job_that_gets_further_each_time_goes_on_within_an_absolute_bound():
    """A week of training with a node failure a day."""
    reached = [steps(1000 * day, 1000 * (day + 1), saved=1000 * (day + 1)) for day in range(7)]

    for day in range(7):
        failures = [avoiding(f"n{number}") for number in range(day + 1)]
        made = plan(*failures, reached=reached)
        assert made.again is (day < LIMITS.retries_in_all), day
        assert made.used == 0
    assert made.code == "all_retries_used"


def test_a_crash_at_the_same_place_after_real_progress_is_worth_another_try():
    crash = a_diagnosis("segfault")

    assert plan(crash, crash, reached=[steps(0, 800, 700), steps(700, 1500, 1400)]).again
    assert not plan(crash, crash, reached=[steps(0, 800, 700), steps(700, 790, 700)]).again


def test_counting_higher_is_no_progress_for_who_starts_over():
    crash = [a_diagnosis("segfault"), a_diagnosis("killed"), a_diagnosis("cuda_error")]
    starting_over = [steps(1, 100), steps(1, 200), steps(1, 300)]

    assert not plan(*crash, reached=starting_over).again
    known_to_resume = [replace(one, resumes=True) for one in starting_over]
    assert plan(*crash, reached=known_to_resume).again
    resumed = [steps(1, 100), steps(90, 200), steps(190, 300)]
    assert plan(*crash, reached=resumed).again
    known_not_to = [replace(one, resumes=False) for one in resumed]
    assert not plan(*crash, reached=known_not_to).again


def test_a_checkpoint_that_did_not_move_is_no_progress():
    crash = [a_diagnosis("segfault"), a_diagnosis("killed"), a_diagnosis("cuda_error")]
    reached = [steps(0, 800, 700), steps(700, 900, 700), steps(700, 950, 700)]

    assert plan(*crash, reached=reached).used == 2


def test_other_units_cannot_be_compared():
    reached = [Reached(unit="epoch", began=1, done=3), steps(2000, 4000)]

    assert plan(avoiding("n1"), avoiding("n2"), reached=reached).used == 1


def test_a_limit_that_is_met_twice_without_getting_further_stops_it():
    limit = a_diagnosis("time_limit")

    assert plan(limit, limit, reached=[steps(0, 500, 400), steps(400, 900, 800)]).again
    assert not plan(limit, limit, reached=[steps(0, 500), steps(0, 498)]).again
    assert plan(limit, limit).again, "nothing is known of its progress"


# a guess


def test_a_guess_is_tried_once():
    guess = a_diagnosis("nccl_timeout", confidence=0.4)

    assert plan(guess).again
    assert not plan(a_diagnosis("segfault"), guess).again


# when


def test_waiting_backs_off_up_to_the_cap_and_not_all_come_back_at_once():
    limits = DecisionLimits(retries=9, retries_in_all=9, longest_wait_s=1000)
    waits = [
        plan(*[a_diagnosis("storage_io")] * count, limits=limits, job_id="7").delay_s
        for count in range(1, 6)
    ]
    spread = waits[0] / 60
    assert 1 <= spread < 1.5
    assert waits == pytest.approx([spread * one for one in (60, 300, 1000, 1000, 1000)])
    others = {plan(a_diagnosis("storage_io"), job_id=str(number)).delay_s for number in range(50)}
    assert len(others) == 50
    assert max(others) - min(others) > 20


def test_the_first_retry_of_another_kind_is_made_at_once_and_the_next_after_a_pause():
    assert plan(a_diagnosis("segfault")).delay_s == 0
    assert plan(a_diagnosis("segfault"), a_diagnosis("killed")).delay_s == 30


# where


def test_blamed_nodes_add_up():
    limits = DecisionLimits(retries=5)
    many = NodeChoice(frozenset(f"n{number}" for number in range(40)), needed=2)

    made = plan(avoiding("n1"), avoiding("n2", "n1"), avoiding("n3"), limits=limits, choice=many)

    assert made.exclude_nodes == ("n1", "n2", "n3")


@pytest.mark.parametrize(
    ("up", "needed", "excluded"),
    [
        (40, 2, ("n1", "n2", "n3")),
        (8, 2, ("n1", "n2")),
        (4, 2, ("n1",)),
        (4, 4, ()),
        (1, 1, ()),
    ],
)
def test_never_more_nodes_are_excluded_than_the_job_can_spare(up, needed, excluded):
    choice = NodeChoice(frozenset(f"n{number}" for number in range(up)), needed)
    failures = [avoiding("n1"), avoiding("n2"), avoiding("n3")]

    made = plan(*failures, limits=DecisionLimits(retries=5), choice=choice)

    assert tuple(node for node in made.exclude_nodes if node in choice.up) == excluded
    assert len(choice.up - set(made.exclude_nodes)) >= needed


def test_a_node_that_is_down_anyway_costs_nothing():
    choice = NodeChoice(frozenset({"n1", "n2"}), 2)

    assert plan(avoiding("n9", "n1"), choice=choice).exclude_nodes == ("n9",)


def test_where_nobody_knows_how_many_nodes_there_are_only_a_few_are_excluded():
    assert len(plan(avoiding(*(f"n{number}" for number in range(30)))).exclude_nodes) == 4


# laws

some_reached = st.builds(
    Reached,
    unit=st.sampled_from([None, "step", "epoch"]),
    began=st.none() | st.integers(0, 100),
    done=st.none() | st.integers(0, 100),
    saved=st.none() | st.integers(0, 100),
    resumes=st.sampled_from([None, True, False]),
)
some_attempts = st.builds(
    Attempt,
    diagnosis=st.builds(
        lambda reason, confidence, nodes: a_diagnosis(
            reason,
            confidence=confidence,
            decision=Decision(retry=REASONS[reason].retry, exclude_nodes=nodes, why="x"),
        ),
        st.sampled_from(RETRIED),
        st.sampled_from([0.3, 0.9]),
        st.lists(st.sampled_from(["n1", "n2", "n3"]), unique=True).map(tuple),
    ),
    reached=some_reached,
)


@given(
    st.dictionaries(st.integers(0, 9), some_attempts),
    some_attempts,
    st.integers(0, 9),
    st.frozensets(st.sampled_from(["n1", "n2", "n3", "n4"])),
)
def test_whatever_the_history_the_bounds_hold(history, now, attempt, up):
    choice = NodeChoice(up, 1)
    made = plan_retry({**history, attempt: now}, attempt, limits=LIMITS, choice=choice)

    assert made.used <= attempt
    assert 0 <= made.delay_s <= 1.5 * LIMITS.longest_wait_s
    if made.again:
        assert attempt < LIMITS.retries_in_all
        assert made.used < LIMITS.retries
        assert not up or up - set(made.exclude_nodes)


def test_a_job_that_asks_for_the_blamed_node_is_left_where_it_is():
    choice = NodeChoice(frozenset({"n1", "n2", "n3"}), 1, required=frozenset({"n1"}))

    made = plan(avoiding("n1"), choice=choice)

    assert (made.again, made.exclude_nodes) == (False, ())
    assert made.code == "nodes_required"
    assert plan(avoiding("n2"), choice=choice).exclude_nodes == ("n2",)


def test_a_job_whose_constraints_leave_no_other_node_is_left_where_it_is():
    assert not plan(avoiding("n1"), choice=NodeChoice(frozenset({"n1"}), 1, picky=True)).again
    assert plan(avoiding("n1"), choice=NodeChoice(frozenset({"n1", "n2"}), 1, picky=True)).again
    assert plan(avoiding("n1"), choice=NodeChoice(frozenset({"n1"}), 1)).exclude_nodes == ()


def test_a_node_that_is_down_is_not_taken_from_a_job_that_needs_it_back():
    choice = NodeChoice(frozenset({"n2"}), 2)

    made = plan(avoiding("n1"), choice=choice)

    assert (made.again, made.exclude_nodes) == (True, ())


def test_where_it_is_not_known_which_nodes_are_up_none_is_excluded():
    assert plan(avoiding("n1"), choice=NodeChoice(frozenset())).exclude_nodes == ()


def test_a_fault_blamed_on_a_node_is_not_the_same_without_one():
    unblamed = replace(avoiding("n1"), blame=Blame())

    made = plan(
        avoiding("n1"), unblamed, nodes=(("n1",), ("n1",)), limits=DecisionLimits(retries=5)
    )

    assert made.code != "same_failure"


def test_a_node_that_its_user_has_excluded_is_not_excluded_once_more():
    """So that undoing our exclusions leaves the user's own."""
    nodes = frozenset(f"n{number}" for number in range(8))
    choice = NodeChoice(nodes - {"n1"}, excluded=frozenset({"n1"}))
    assert plan(avoiding("n1", "n2"), choice=choice).exclude_nodes == ("n2",)
