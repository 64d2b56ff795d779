from __future__ import annotations

import pytest

from schedmate.model import BadInput
from schedmate.policies import POLICIES
from schedmate.simulator import Setting, columns_of, compare, plan, plans
from schedmate.simulator.experiments.plan import Plan
from schedmate.testing.builders import a_trace_job


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("fifo", "fifo"),
        ("easy+advisor", "easy+advisor"),
        ("easy + tracker+advisor", "easy+advisor+tracker"),
        ("las+schedmate", "las+schedmate"),
        ("las+advisor+tracker+handler", "las+schedmate"),
    ],
)
def test_a_plan_has_one_name(name, shown):
    assert plan(name).name == shown
    assert plan(shown) == plan(name)
    assert plan(name).unaided.name == name.split("+")[0].strip()


def test_plans_are_taken_once_in_the_order_given():
    names = [each.name for each in plans("easy, fifo,easy+schedmate,fifo")]
    assert names == ["easy", "fifo", "easy+schedmate"]
    assert [each.name for each in plans("all")] == sorted(POLICIES)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fifi", "no policy is called 'fifi'; there are: conservative"),
        ("fifo+adviser", "SchedMate has no part 'adviser'; there are: advisor, tracker, handler"),
        ("easy+schedmate+limits+limits", "names limits twice; once is enough"),
        ("easy+schedmate+schedmate", "names schedmate twice; once is enough"),
        ("easy+advisor+advisor", "names advisor twice; once is enough"),
        (
            "easy+advisor+schedmate",
            "advisor besides schedmate, which contains it; leave advisor out",
        ),
        (
            "easy+schedmate+handler",
            "handler besides schedmate, which contains it; leave handler out",
        ),
        ("", "--policy needs a name"),
        (" , ", "--policy needs a name"),
    ],
)
def test_a_misspelt_name_is_told_what_there_is(name, said):
    with pytest.raises(BadInput, match=said.replace("+", r"\+")):
        plans(name)


def test_numbers_behind_a_policy_are_its_parameters():
    assert plan("tiresias@3250") == Plan("tiresias", values=(3250.0,))
    assert plan("las@60:2+schedmate").name == "las@60:2+schedmate"
    assert plan("las@60:2+schedmate").unaided.name == "las@60:2"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tiresias@soon", "numbers stand behind @"),
        ("tiresias@", "numbers stand behind @"),
        ("fifo@3", "fifo takes no parameter"),
        ("las@60:2:1", "las takes first, growth, not 3"),
        ("las@60:1", "more than once as far"),
        ("tiresias@-1", "cannot be below 0"),
    ],
)
def test_a_parameter_that_is_none_is_explained(name, words):
    with pytest.raises(BadInput, match=words):
        plan(name)


def test_a_parameter_changes_what_the_policy_does():
    jobs = [
        a_trace_job(job_id=str(number), submit_time=10.0 * number, duration=seconds, gpus=1)
        for number, seconds in enumerate([1000.0, 900.0, 10.0, 800.0, 20.0, 30.0])
    ]
    setting = Setting(name="six", columns=columns_of(jobs), gpus=1)

    short, long = compare(setting, ["tiresias@5", "tiresias@100000"])

    assert not short.outcome.same_as(long.outcome)
    assert short.policy == "tiresias@5"
