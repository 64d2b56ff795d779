"""A larger model looks around by itself; what it says in the end is checked all the same."""

from __future__ import annotations

import pytest

CODE = """\
import torch
from mystery import fit
from own import settings  # thrice: amount_a = 3

\"\"\"amount_a = 4\"\"\"
fit(settings)
"""
OWN = "amount_a, amount_b = 32, 'x'\nsettings = {'amount_c': 16, 'place': 'runs/x'}\n"
FILES = {"train.py": CODE, "own.py": OWN, "unrelated.py": "amount = 77\n"}


def stepping(*answers):
    """A model that takes these steps; the last one is its answer."""
    said = list(answers)

    def script(schema, _):
        if schema.__name__ == "Picked":
            return dict.fromkeys(schema.model_fields, "none")
        return said.pop(0)

    return script


def answer(field, value, file, line):
    said = {"field": field, "value": value, "file": file, "line": line}
    return {"step": "answer", "answers": [said]}


def test_it_lists_reads_searches_and_answers(job):
    steps = (
        {"step": "list", "argument": ""},
        {"step": "search", "argument": "amount_c"},
        {"step": "read", "argument": "own.py:2"},
        answer("batch_size", "16", "own.py", 2),
    )
    advised, asker = job(FILES, stepping(*steps), steps=6)
    talk = asker.asked[-1].prompt
    assert "\nlist \nown.py\ntrain.py\nunrelated.py\n" in talk
    assert "own.py:2: settings = {'amount_c': 16" in talk
    found = advised.advice.workload.batch_size
    assert (found.value, found.source, found.evidence[0].line) == (16, "llm", 2)
    assert advised.advice.cost.llm_calls == len(asker.asked)


@pytest.mark.parametrize(
    "said",
    [
        answer("batch_size", "17", "own.py", 2),
        answer("batch_size", "16", "own.py", 1),
        answer("batch_size", "77", "unrelated.py", 1),
        answer("batch_size", "3", "train.py", 3),
        answer("batch_size", "4", "train.py", 5),
        answer("batch_size", "runs/x", "own.py", 2),
        answer("batch_size", "16", "../own.py", 2),
        answer("no_such_field", "16", "own.py", 2),
        answer("gpus", "16", "own.py", 2),
        {"step": "answer", "answers": []},
    ],
)
def test_what_is_not_in_the_quoted_line_of_the_jobs_code_is_refused(job, said):
    plain, _ = job(FILES, None)
    advised, _ = job(FILES, stepping(said), steps=6)
    assert advised.advice.workload == plain.advice.workload


def test_it_takes_a_handful_of_steps_and_no_more(job):
    steps = [{"step": "search", "argument": f"x{n}"} for n in range(20)]
    advised, asker = job(FILES, stepping(*steps), steps=4)
    assert sum(each.schema.__name__ == "Step" for each in asker.asked) == 4
    assert advised.problem is None


def test_a_small_model_is_not_made_to_look_around(job):
    _, asker = job(FILES, stepping())
    assert all(each.schema.__name__ != "Step" for each in asker.asked)


def test_what_it_looked_at_is_no_part_of_what_the_job_is(job):
    plain, _ = job({**FILES, "notes.yaml": "a: 1\n"}, None)
    steps = ({"step": "search", "argument": "a"}, {"step": "answer"})
    advised, _ = job(FILES, stepping(*steps), steps=3)
    assert advised.fingerprint == plain.fingerprint
