"""What a model said is kept by content: an edit asks again only about what it changed."""

from __future__ import annotations

from tests.advisor.record_agent.conftest import TRAIN, answering, change, quote

RATE = '{"lr": 3e-4}\n'
SAID = answering(
    change("learning_rate", 3e-4, quote("rate.json", 1, '"lr": 3e-4')),
    change("dataset", "wikitext-103", quote("train.py", 7, "wikitext-103")),
    summary="Trains.",
    facts=[
        {
            "kind": "inherits",
            "subject": "rate.json",
            "object": "base.json",
            "quote": quote("rate.json", 1, '"lr"'),
        }
    ],
)


def test_a_resubmission_asks_nothing(job):
    files = {"train.py": TRAIN, "rate.json": RATE}
    first, asker = job(files, SAID)
    assert len(asker.asked) == 1
    again, asker = job(files, SAID)
    assert asker.asked == []
    assert again.advice.workload == first.advice.workload
    assert again.advice.summary == "Trains."


def test_an_edit_that_touches_no_quote_asks_nothing_and_a_sweep_is_free(job):
    job({"train.py": TRAIN, "rate.json": RATE}, SAID)
    moved = TRAIN.replace("import torch\n", "import torch\nimport os\n", 1)
    advised, asker = job({"train.py": moved.replace("range(9000)", "range(400)")}, SAID)
    assert asker.asked == []
    workload = advised.advice.workload
    assert (workload.max_steps.value, workload.max_steps.source) == (400, "code")
    assert workload.dataset.evidence[0].line == 8
    assert workload.learning_rate.value == 3e-4


def test_an_edited_quote_is_asked_about_alone(job):
    job({"train.py": TRAIN, "rate.json": RATE}, SAID)
    new = answering(
        change("learning_rate", 5e-4, quote("rate.json", 1, '"lr": 5e-4')),
        change("dataset", "wikitext-103", quote("train.py", 5, "SAVE_EVERY")),
    )
    advised, asker = job({"rate.json": '{"lr": 5e-4}\n'}, new)
    assert len(asker.asked) == 1
    assert "Only these fields are asked about: learning_rate." in asker.asked[0].prompt
    workload = advised.advice.workload
    assert workload.learning_rate.value == 5e-4
    assert workload.dataset.evidence[0].line == 7


def test_facts_serve_other_jobs_of_the_repository_while_their_file_is_as_it_was(job):
    job({"train.py": TRAIN, "rate.json": RATE}, SAID)
    _, asker = job({"other.py": TRAIN}, SAID, command=("python", "other.py"))
    assert "# KNOWN of this repository\nrate.json inherits base.json" in asker.asked[0].prompt
    _, asker = job({"third.py": TRAIN, "rate.json": RATE * 2}, SAID, command=("python", "third.py"))
    assert "KNOWN" not in asker.asked[0].prompt


def test_a_model_that_chooses_is_not_asked_to_read(job):
    _, asker = job({"train.py": TRAIN}, {"answer": {}}, tier="choose")
    assert all("answer" not in each.schema.model_fields for each in asker.asked)
