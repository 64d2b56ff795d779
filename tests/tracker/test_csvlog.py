"""Tables of metrics: a header, then rows that mean something only below it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model.wire import dumps, loads
from schedmate.tracker.formats import Sighting
from schedmate.tracker.formats.csvlog import CsvHeader, CsvRows


@pytest.mark.parametrize(
    ("header", "row", "sighting"),
    [
        (
            "epoch,step,train_loss,val_loss",
            "3,1200,0.51,0.62",
            Sighting(
                unit="step",
                current=1200,
                series="step",
                epoch=3,
                metrics={"train_loss": 0.51, "val_loss": 0.62},
            ),
        ),
        (
            "epoch,accuracy,loss",
            "0,0.91,0.3",
            Sighting(
                unit="epoch",
                current=0,
                series="epoch",
                ordinal="ended",
                epoch=0,
                metrics={"accuracy": 0.91, "loss": 0.3},
            ),
        ),
        (
            "iter\tloss\telapsed_s",
            "10\t2.5\t3.5",
            Sighting(unit="step", current=10, series="iter", elapsed_s=3.5, metrics={"loss": 2.5}),
        ),
        (
            '"step", "loss", "val_loss", "timestamp"',
            "7, 0.5, , 2025-01-01T12:00:00",
            Sighting(unit="step", current=7, series="step", metrics={"loss": 0.5}),
        ),
    ],
)
def test_a_row_is_read_by_its_header(header: str, row: str, sighting: Sighting):
    rows = CsvHeader().read(header)
    assert rows is not None
    assert rows.read(row) == sighting


@pytest.mark.parametrize(
    "line",
    [
        "",
        "epoch",
        "loss,accuracy",
        "3,1200,0.51",
        "step, loss and more, time",
        "epoch,epoch,loss",
        "step=3, loss=4",
        "step," * 50_000 + "loss",
    ],
)
def test_what_names_no_counted_columns_is_no_header(line: str):
    assert CsvHeader().read(line) is None


@pytest.mark.parametrize(
    "line", ["", "1", "1,2,3", "a,b", "1,b", "-1,2", "nan,1", "inf,1", "1e99,1"]
)
def test_what_is_no_row_is_none(line: str):
    assert CsvRows(",", ("step", "loss")).read(line) is None


def test_the_reader_of_rows_is_state_that_comes_back():
    rows = CsvHeader().read("epoch,step,loss")
    assert rows is not None
    assert loads(CsvRows, dumps(rows)) == rows


@given(st.text(), st.text())
def test_any_text_is_survived(header: str, row: str):
    rows = CsvHeader().read(f"step,{header}") or CsvRows(",", ("step", "loss"))
    seen = rows.read(row)
    assert seen is None or (seen.current is not None and seen.current >= 0)
