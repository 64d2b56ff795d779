"""The agent fills what reading leaves open, and nothing else."""

from __future__ import annotations

import pytest

from schedmate.model import BadAnswer, ModelTooSlow, ModelUnavailable
from schedmate.testing.llm import ScriptedAsker

CODE = """\
import torch
from elsewhere import make, net, run

first_batch_amount = 48
other_batch_amount = 24
snapshot_dump = "snaps/a"
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(7):
    for batch in make(first_batch_amount, other_batch_amount):
        run(net, batch, snapshot_dump)
        optimizer.step()
"""


def pick(**values):
    """Says these values, and none of the others."""

    def script(schema, _):
        return {name: values.get(name, "none") for name in schema.model_fields}

    return script


def test_a_value_has_the_model_as_its_source_and_the_line_that_states_it(job):
    advised, asker = job({"train.py": CODE}, pick(batch_size="24"))
    assert "- 48 | first_batch_amount = 48" in asker.asked[0].prompt
    assert "- 24 | other_batch_amount = 24" in asker.asked[0].prompt
    found = advised.advice.workload.batch_size
    assert (found.value, found.source) == (24, "llm")
    assert [(line.file, line.line) for line in found.evidence] == [("train.py", 5)]
    assert found.confidence < 0.7
    assert advised.advice.workload.checkpoint_dir is None
    assert (advised.advice.cost.llm_calls, advised.advice.cost.llm_tokens) == (2, 2)


def test_what_reading_knows_is_neither_asked_nor_touched(job, pick_first):
    plain, _ = job({"train.py": CODE}, None)
    advised, asker = job({"train.py": CODE}, pick_first)
    assert plain.advice.workload.epochs.value == 7
    for name in ("epochs", "learning_rate", "optimizer", "framework"):
        known = getattr(plain.advice.workload, name)
        assert known is not None
        assert getattr(advised.advice.workload, name) == known
        assert all(name not in each.schema.model_fields for each in asker.asked)
    assert all("max_steps" not in each.schema.model_fields for each in asker.asked)


def test_two_voices_that_disagree_need_a_third(job, pick_first):
    advised, asker = job({"train.py": CODE}, pick_first)
    orders = [each.prompt.index("- 48") < each.prompt.index("- 24") for each in asker.asked]
    assert orders == [True, False, True]
    assert len({each.prompt for each in asker.asked}) == 3
    assert advised.advice.workload.batch_size.value == 48


def test_without_a_majority_nothing_is_said(job):
    said = iter(["48", "24", "none"])
    answers = ({"batch_size": value, "checkpoint_dir": "none"} for value in said)

    def script(schema, _):
        answer = next(answers)
        return {name: answer[name] for name in schema.model_fields}

    advised, asker = job({"train.py": CODE}, script)
    assert len(asker.asked) == 3
    assert advised.advice.workload.batch_size is None


def test_one_voice_is_enough_where_there_is_one_value_to_take_or_leave(job):
    advised, asker = job({"train.py": CODE}, pick(checkpoint_dir="snaps/a"))
    assert len(asker.asked) == 1
    assert advised.advice.workload.checkpoint_dir.value == "snaps/a"


def test_no_call_is_made_where_no_line_is_a_candidate(job):
    asker = ScriptedAsker([])
    advised, _ = job({"train.py": "import torch\nmain()\n"}, asker)
    assert asker.asked == []
    assert advised.advice.cost.llm_calls == 0
    assert advised.problem is None


def test_what_the_command_line_overrides_is_not_offered(job, pick_first):
    code = """\
import argparse
from elsewhere import go
batch_amount = 11
parser = argparse.ArgumentParser()
parser.add_argument("--batch-amount", type=int, default=12)
go(parser.parse_args(), batch_amount)
"""
    advised, asker = job({"train.py": code}, pick_first, "--batch-amount", "13")
    assert advised.advice.workload.batch_size.value == 13
    assert len(asker.asked) == 1


def test_an_option_that_nobody_knows_closes_its_field(job, tmp_path, pick_first):
    code = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=90)
args = parser.parse_args()
limits = {"n_epoch_rounds": 40}
"""
    script = "#!/bin/bash\npython train.py --epochs $SOMETHING\n"
    advised, asker = job(
        {"train.py": code, "job.sh": script}, pick_first, command=("bash", "job.sh")
    )
    assert advised.advice.workload.epochs is None
    assert all("epochs" not in each.schema.model_fields for each in asker.asked)


@pytest.mark.parametrize("error", [ModelUnavailable, ModelTooSlow, BadAnswer])
def test_a_model_that_fails_costs_nothing_but_its_deadline(job, error):
    plain, _ = job({"train.py": CODE}, None)
    advised, _ = job({"train.py": CODE}, [error("no")])
    assert advised.advice.workload == plain.advice.workload
    assert isinstance(advised.problem, error)
    assert advised.fingerprint == plain.fingerprint


def test_a_job_is_asked_about_again_when_the_model_failed(job):
    files = {"train.py": CODE}
    advised, _ = job(files, [{"batch_size": "48", "checkpoint_dir": "none"}, ModelTooSlow("late")])
    assert advised.advice.workload.batch_size is None
    advised, _ = job(files, pick(batch_size="48"))
    assert advised.advice.workload.batch_size.value == 48


def test_answers_are_kept_with_the_reading_but_not_for_those_who_ask_nobody(job):
    files = {"train.py": CODE}
    job(files, None)
    advised, _ = job(files, pick(batch_size="48"))
    assert advised.advice.workload.batch_size.value == 48
    advised, asker = job(files, [])
    assert advised.advice.workload.batch_size.value == 48
    assert asker.asked == []
    assert advised.advice.cost.llm_calls == 0
    without, _ = job(files, None)
    assert without.advice.workload.batch_size is None


def test_a_value_that_was_not_shown_is_no_answer(job):
    """An endpoint may check no schema."""

    class Careless(ScriptedAsker):
        def ask(self, schema, prompt, **settings):
            answer = super().ask(schema, prompt, **settings)
            object.__setattr__(answer.value, "batch_size", "64")
            return answer

    advised, _ = job({"train.py": CODE}, Careless(pick(batch_size="48")))
    assert advised.advice.workload.batch_size is None


def test_the_question_begins_alike_for_every_job_and_is_short(job):
    _, one = job({"train.py": CODE}, pick())
    _, other = job({"train.py": CODE.replace("48", "96")}, pick())
    assert one.asked[0].system == other.asked[0].system
    assert one.asked[0].purpose == "advise"
    assert len(one.asked[0].prompt) < 600
