"""Which files are the logs of one job."""

import pytest

from schedmate.logs import files, logs_at
from schedmate.model import BadInput, NotFound


def test_a_file_is_itself_whatever_its_name(tmp_path):
    log = tmp_path / "anything"
    log.touch()
    assert logs_at(log) == (log,)


def test_a_directory_gives_its_logs_in_the_order_of_their_ranks(tmp_path):
    names = ["rank_10.log", "rank_2.log", "attempt_0/3/stderr.log", "job.o17", "stdout"]
    for name in [*names, "model.pt", "notes.md"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = [str(log.relative_to(tmp_path)) for log in logs_at(tmp_path)]
    assert sorted(found) == sorted(names)
    assert found.index("rank_2.log") < found.index("rank_10.log")


def test_what_cannot_be_one_job_is_refused_instead_of_searched_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MAX_FILES", 3)
    for number in range(4):
        (tmp_path / f"{number}.log").touch()
    with pytest.raises(BadInput, match="name the directory of one job"):
        logs_at(tmp_path)


def test_nothing_there(tmp_path):
    with pytest.raises(NotFound, match="no such log"):
        logs_at(tmp_path / "missing")
    with pytest.raises(NotFound, match="no log in"):
        logs_at(tmp_path)
