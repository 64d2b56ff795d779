from __future__ import annotations

import pytest

from schedmate.model import BadInput
from schedmate.policies import POLICIES
from schedmate.simulator import plan, plans


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
