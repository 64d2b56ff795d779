"""A job's log as data: by ranges, by a line, by words, folded to the cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedmate.client import Client
from schedmate.model import Evidence, JobState, NotFound
from schedmate.service.views.log_ranges import BLOCK
from schedmate.testing.builders import a_diagnosis, a_job

pytestmark = pytest.mark.processes
LINES = 3000
KEY = "sk-abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def site(served, tmp_path):
    log = tmp_path / "train.log"
    text = [f"step {number} loss 0.5" for number in range(1, LINES + 1)]
    text[1499] = "RuntimeError: \x1b[31mbad\x1b[0m record <script>"
    text[1500] = f"using key {KEY}"
    text[1501] = " 10%\r 20%\r100%"
    log.write_text("\n".join(text) + "\n")
    (tmp_path / "train.py").write_text("import torch\nlr = 1\n")
    evidence = (Evidence("train.log", 1500, "RuntimeError"), Evidence("train.py", 2, "lr = 1"))
    served.store.keep_diagnosis("1", 0, a_diagnosis("data_error", evidence=evidence))
    place = {"workdir": str(tmp_path), "logs": (str(log),)}
    served.show(a_job(id="1", state=JobState.FAILED, **place))
    return served


@pytest.fixture
def client(site):
    return Client(site.url(""))


def texts(answer):
    return [line.text for part in answer.ranges for line in part.lines]


def test_it_opens_at_the_cause(client):
    found = client.log("1")
    assert found.files == ("train.log",)
    [cause] = [line for part in found.ranges for line in part.lines if line.cause]
    assert (cause.number, cause.text, cause.error) == (
        1500,
        "RuntimeError: bad record <script>",
        True,
    )
    assert "100%" in texts(found)
    assert len(texts(found)) < 100


def test_ranges_follow_each_other_to_the_end(site):
    query, seen, pages = "?show=start&limit=400", [], 0
    while query is not None:
        page = site.get(f"/api/v1/jobs/1/log{query}").json
        seen += [line["number"] for part in page["ranges"] for line in part["lines"]]
        query, pages = page["next"], pages + 1
    assert seen == list(range(1, LINES + 1))
    assert pages == 8


def test_a_line_by_its_number_and_the_end(client):
    assert "step 2000 loss 0.5" in texts(client.log("1", line=2000))
    end = client.log("1", show="end", limit=2)
    assert texts(end) == ["step 2999 loss 0.5", "step 3000 loss 0.5"]
    assert end.next is None
    with pytest.raises(NotFound, match="no line 9999"):
        client.log("1", line=9999)


def test_words_are_searched_through_the_whole_log(client):
    [one] = client.search_log("1", "runtimeerror")
    assert texts(one) == ["RuntimeError: bad record <script>"]
    pages = list(client.search_log("1", "loss"))
    assert sum(len(texts(page)) for page in pages) == LINES - 3
    assert len(pages) > 10


def test_a_file_that_evidence_quotes_and_no_other(client):
    assert [line.text for line in client.quoted_file("1", "train.py", line=2).lines] == [
        "import torch",
        "lr = 1",
    ]
    for name in ("../../etc/passwd", "/etc/passwd", "other.py"):
        with pytest.raises(NotFound):
            client.quoted_file("1", name)


def test_secrets_are_shown_to_the_owner_alone(site, client):
    site.taken_for("op", operator=True)
    assert KEY not in str(client.log("1"))
    assert client.log("1").masked
    site.taken_for(a_job().user)
    assert KEY in str(client.log("1"))


def test_a_private_key_is_masked_for_operators_whatever_is_asked_for(site):
    """Also where the whole log is sent in blocks of which one begins inside of the key."""
    key = "-----BEGIN PRIVATE KEY-----\nMIIEow\nshort1\nsQ==\n-----END PRIVATE KEY-----\n"
    path = Path(site.site.board.view("1").job.logs[0])
    filler = "x" * (BLOCK - path.stat().st_size - len(key) // 2 - 1) + "\n"
    with path.open("a") as log:
        log.write(filler + key + "the end\n")
    inside = path.stat().st_size - len(key) // 2
    paths = (
        *("/jobs/1/log?show=end", "/jobs/1/log/raw", f"/jobs/1/log/lines?at={inside}"),
        *(f"/api/v1/jobs/1/log?at={inside}", "/api/v1/jobs/1/log?show=end&limit=4"),
        "/api/v1/jobs/1/log?q=sQ",
    )
    site.taken_for("op", operator=True)
    for asked in paths:
        answer = site.get(asked)
        assert answer.status == 200, asked
        assert not [one for one in ("MIIEow", "short1", "sQ==") if one in answer.text], asked
    assert site.get("/jobs/1/log/raw").text.endswith("the end\n")
    site.taken_for(a_job().user)
    assert all("sQ==" in site.get(asked).text for asked in paths)


@pytest.mark.parametrize(
    "query", ["file=7", "at=-1", "limit=0", "show=middle", "line=0", f"q={'x' * 2000}"]
)
def test_what_cannot_be_shown(site, query):
    answer = site.get(f"/api/v1/jobs/1/log?{query}")
    assert answer.status in (404, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_log_that_is_not_there_has_a_reason(site, client, tmp_path):
    later, first = tmp_path / "b.out.attempt-2", tmp_path / "b.out"
    first.write_text("the first attempt\n")
    logs = {"logs": (str(later),), "earlier_logs": (str(first),), "restarts": 1}
    site.show(a_job(id="2", state=JobState.PENDING, **logs))
    for asked in ({}, {"show": "end"}, {"line": 3}):
        found = client.log("2", **asked)
        assert found.absent == "Attempt 2 has not started yet: it has no log."
        assert (found.ranges, found.size, found.identity, found.next) == ((), 0, "", None)
    assert found.files == ("b.out.attempt-2", "b.out")
    earlier = client.log("2", file=1)
    assert (texts(earlier), earlier.absent) == (["the first attempt"], None)
    (tmp_path / "train.log").unlink()
    assert client.log("1").absent == "This log is gone: it was deleted or moved."


def test_curves_of_loss(client):
    assert [one.name for one in client.curves("1").curves][:1] == ["loss"]
