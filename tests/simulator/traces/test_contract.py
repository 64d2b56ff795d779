"""What every reader of traces must do."""

from __future__ import annotations

import gzip
import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.model import BadInput
from schedmate.simulator import Trace, read_trace
from schedmate.simulator.traces import READERS
from schedmate.testing.builders import a_trace_job
from simulator.traces.samples import SAMPLES, Sample

each_sample = pytest.mark.parametrize(("name", "sample"), SAMPLES.items(), ids=SAMPLES)


def read(tmp_path: Path, content: str | bytes) -> Trace:
    path = tmp_path / "no_telling_name"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_trace(path)


def test_every_reader_has_a_sample():
    elsewhere = {"plain Parquet", "Alibaba PAI jobs", "store"}

    assert {reader.name for reader in READERS} == SAMPLES.keys() | elsewhere


@each_sample
def test_a_file_is_known_by_its_content_and_to_one_reader_only(tmp_path, name, sample: Sample):
    path = tmp_path / "trace"
    path.write_text(sample.text, encoding="utf-8")

    assert [reader.name for reader in READERS if reader.sniff(path)] == [name]


@each_sample
def test_a_row_becomes_the_job_that_it_says(tmp_path, name, sample: Sample):
    assert read(tmp_path, sample.text).jobs == (a_trace_job(**sample.job),)


@each_sample
def test_what_is_wrong_is_named_and_what_needs_no_gpu_is_counted(tmp_path, name, sample: Sample):
    trace = read(tmp_path, sample.text)

    [bad] = trace.bad_rows
    assert bad.line == sample.bad[0]
    assert sample.bad[1] in bad.what
    assert trace.left_out == sample.left_out


@each_sample
def test_gzip_and_the_habits_of_other_systems_change_nothing(tmp_path, name, sample: Sample):
    plain = read(tmp_path, sample.text)

    assert read(tmp_path, gzip.compress(sample.text.encode())) == plain
    assert read(tmp_path, sample.text.replace("\n", "\r\n")) == plain
    assert read(tmp_path, "\ufeff" + sample.text) == plain


@each_sample
def test_half_a_gzip_file_is_refused(tmp_path, name, sample: Sample):
    packed = gzip.compress(sample.text.encode() * 2000, compresslevel=0)

    with pytest.raises(BadInput, match=r"broken gzip file|broken JSON"):
        read(tmp_path, packed[: len(packed) // 2])


@each_sample
@settings(max_examples=20, deadline=None)
@given(noise=st.binary(max_size=60), at=st.floats(0, 1))
def test_no_damage_ends_in_anything_but_jobs_or_a_sentence(
    tmp_path_factory, name, sample: Sample, noise, at
):
    content = sample.text.encode()
    cut = int(at * len(content))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(content[:cut] + noise + content[cut + len(noise) :])

    with suppress(BadInput):
        assert read_trace(path).jobs


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@settings(max_examples=30, deadline=None)
@given(content=st.binary(max_size=200))
def test_no_reader_stumbles_when_it_sniffs(tmp_path_factory, reader, content):
    path = tmp_path_factory.getbasetemp() / "sniffed"
    path.write_bytes(content)

    assert isinstance(reader.sniff(path), bool)


def test_a_pipe_is_refused_at_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    said: list[str] = []

    def look() -> None:
        with pytest.raises(BadInput) as caught:
            read_trace(path)
        said.append(str(caught.value))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(10)

    assert said == [f"{path} is no regular file; copy what comes out of it into one"]


def test_an_archive_is_to_be_unpacked(tmp_path):
    inside = tmp_path / "trace.csv"
    inside.write_text(SAMPLES["plain CSV"].text, encoding="utf-8")
    for kind in ("gztar", "tar", "zip"):
        packed = shutil.make_archive(str(tmp_path / "packed"), kind, tmp_path, inside.name)

        with pytest.raises(BadInput, match="it is an archive: unpack it"):
            read_trace(Path(packed))


def test_a_table_that_lacks_a_column_is_told_which(tmp_path):
    with pytest.raises(BadInput, match=r"Helios, which is nearest, .* and it lacks duration$"):
        read(tmp_path, "job_id,user,vc,gpu_num,state,submit_time\n1,a,v,1,COMPLETED,0\n")


def test_a_file_that_may_not_be_read_is_said_to_be(tmp_path, monkeypatch):
    path = tmp_path / "trace"
    path.write_text("x", encoding="utf-8")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(BadInput, match="cannot be read: Permission denied"):
        read_trace(path)
