"""A model that reads answers with a diff of the record; what holds is what it shows."""

from __future__ import annotations

import pytest

from schedmate.advisor.record_agent.arithmetic import evaluate
from schedmate.advisor.record_agent.checking import QuoteChecker
from schedmate.advisor.record_agent.diff import Change
from schedmate.model import Finding, ModelTooSlow, Workload
from tests.advisor.record_agent.conftest import TRAIN, answering, change, quote

FILES = {"train.py": TRAIN, "rate.json": '{"lr": 3e-4}\n', "stray.json": '{"lr": 7e-4}\n'}
DEVICES = quote("train.py", 9, "per_update, devices = 512, 8")
READ_RATE = {"steps": [{"step": "read", "argument": "rate.json"}]}


def test_open_fields_are_filled_and_wrong_ones_replaced_by_quotes_and_sums(job):
    advised, asker = job(
        FILES,
        READ_RATE,
        answering(
            change("learning_rate", 3e-4, quote("rate.json", 9, '"lr": 3e-4')),
            change("batch_size", 64, DEVICES, do="replace", expression="512 // 8"),
            change("task", "language_modeling", quote("train.py", 7, "wikitext-103")),
            change("max_steps", None, quote("train.py", 10, "range(9000)"), do="null"),
            summary="Trains a net on\n wikitext-103.",
        ),
    )
    workload = advised.advice.workload
    assert len(asker.asked) == 2
    assert '> read rate.json\n1: {"lr": 3e-4}' in asker.asked[1].prompt
    assert (workload.learning_rate.value, workload.learning_rate.source) == (3e-4, "llm")
    assert workload.learning_rate.evidence[0].line == 1
    assert (workload.batch_size.value, workload.batch_size.confidence) == (64, 0.85)
    assert workload.task.value == "language_modeling"
    assert workload.max_steps is None
    assert workload.optimizer == Finding(
        value="adamw", source="code", evidence=workload.optimizer.evidence, confidence=0.95
    )
    assert advised.advice.summary == "Trains a net on wikitext-103."
    assert advised.advice.cost.llm_calls == 2


@pytest.mark.parametrize(
    "wrong",
    [
        change("dataset", "imagenet", quote("train.py", 7, 'Corpus("wikitext-103")')),
        change("dataset", "wikitext-103", quote("train.py", 7, 'Corpus("wikitext-104")')),
        change("dataset", "wikitext-103", quote("missing.py", 7, "wikitext-103")),
        change("dataset", "wikitext-103"),
        change("sequence_length", 512, quote("train.py", 9, "devices"), expression="512 * 99"),
        change("epochs", 1e30, quote("train.py", 9, "512"), expression="512 ** 60"),
        change("epochs", 5, quote("train.py", 9, "512"), expression="__import__('os').getpid()"),
        change("gradient_accumulation", 0.5, quote("train.py", 5, "500"), expression="500 / 1000"),
        change("task", "world_domination", quote("train.py", 7, "wikitext-103")),
        change("precision", "fp32; rm -rf", quote("train.py", 1, "import torch")),
        change("early_stopping", "yes", quote("train.py", 5, "SAVE_EVERY")),
    ],
)
def test_what_no_line_states_is_not_believed(job, wrong):
    advised, _ = job(FILES, answering(wrong))
    assert getattr(advised.advice.workload, wrong["field"]) is None


def test_a_value_from_a_file_that_nothing_names_needs_two_samples(job):
    said = change("learning_rate", 7e-4, quote("stray.json", 1, "7e-4"))
    advised, asker = job(FILES, answering(said))
    assert len(asker.asked) == 2
    assert "Only these fields are asked about: learning_rate." in asker.asked[1].prompt
    found = advised.advice.workload.learning_rate
    assert (found.value, found.confidence) == (7e-4, 0.7)


def test_where_two_samples_disagree_both_values_are_kept(job):
    first = change("batch_size", 7, quote("stray.txt", 1, "batch 7"), do="replace")
    second = change("batch_size", 9, quote("stray.txt", 2, "batch 9"), do="replace")
    files = {**FILES, "stray.txt": "batch 7\nbatch 9\n"}
    advised, _ = job(files, answering(first), answering(second))
    found = advised.advice.workload.batch_size
    assert (found.value, found.disputed, found.confidence, found.source) == (32, 7, 0.5, "code")


def test_a_model_that_does_not_answer_leaves_the_record_as_it_was_read(job):
    alone, _ = job(FILES)
    advised, _ = job(FILES, ModelTooSlow("late"))
    assert isinstance(advised.problem, ModelTooSlow)
    assert advised.advice.workload == alone.advice.workload


def test_remarks_are_labelled_and_never_certain(job):
    said = {"text": "rate.json has no rate", "quote": quote("train.py", 8, 'knobs("rate.json")')}
    invented = {"text": "all is lost", "quote": quote("train.py", 8, "no such line")}
    advised, _ = job(FILES, answering(remarks=[said, invented]))
    [remark] = [each for each in advised.advice.advice if each.by_model]
    assert (remark.text, remark.level, remark.certain) == (
        "rate.json has no rate",
        "warning",
        False,
    )


def test_that_a_job_resumes_is_not_proved_by_a_model():
    def resumes(source, disputed=None, *, value=True):
        return Workload(resumes=Finding(value=value, source=source, disputed=disputed))

    assert resumes("code").proved_resumes is True
    assert resumes("llm").proved_resumes is None
    assert resumes("llm", value=False).proved_resumes is None
    assert resumes("llm", disputed=False).proved_resumes is False
    assert resumes("llm", disputed=True, value=False).proved_resumes is None
    assert Workload().proved_resumes is None


def test_what_the_reader_saw_of_resuming_stays_in_sight(job):
    code = TRAIN.replace("for step", "import sys\nfor step") + "sys.exit()\n"
    said = change("resumes", True, quote("train.py", 13, "torch.save"), do="replace")
    advised, _ = job({**FILES, "train.py": code}, answering(said))
    found = advised.advice.workload.resumes
    before, _ = job({**FILES, "train.py": code})
    seen = before.advice.workload.resumes
    assert (found.value, found.source) == (True, "llm")
    assert found.disputed == (None if seen is None else seen.value)
    assert advised.advice.workload.proved_resumes is not True


def test_sums_are_of_quoted_numbers_and_bounded():
    assert evaluate("512 // 8", [512, 8]) == 64
    assert evaluate("2 * 3600", []) == 7200
    assert evaluate("-(3 - 5)", [3, 5]) == 2
    for bad in (
        "9 ** 9 ** 9",
        "x + 1",
        "1 if 1 else 2",
        "10 / 0",
        "5 * 7",
        "(" * 500,
        "True",
        "(-9) ** 0.5",
    ):
        assert evaluate(bad, [9, 10, 5, 0, 0.5]) is None


def test_a_comment_is_no_line_of_the_job():
    lines = ["epochs = 3  # epochs = 90", "# epochs = 90", "n = total // 8"]
    checker = QuoteChecker(lambda _: lines, lambda _: True)

    def checked(value, line, text, **more):
        return checker.check(Change(**change("epochs", value, quote("a.py", line, text), **more)))

    assert checked(3, 1, "epochs = 3").value == 3
    assert checked(90, 1, "epochs = 90") is None
    assert checked(90, 2, "# epochs = 90") is None
    assert checked(8, 3, "total // 8").value == 8
