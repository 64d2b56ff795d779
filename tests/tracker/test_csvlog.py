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
            "epoch     train_loss  valid_loss  accuracy  time",
            "3         0.120000    0.340000    0.950000  00:12",
            Sighting(
                unit="epoch",
                current=3,
                series="epoch",
                ordinal="ended",
                epoch=3,
                metrics={"train_loss": 0.12, "valid_loss": 0.34, "accuracy": 0.95},
            ),
        ),
        (
            "E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  SCORE",
            "1     200         48.50     30.20    0.25    0.30",
            Sighting(
                unit="step",
                current=200,
                series="step",
                epoch=1,
                metrics={"loss_tok2vec": 48.5, "loss_ner": 30.2, "ents_f": 0.25, "score": 0.3},
            ),
        ),
        (
            "Step Temp E_pair TotEng Press",
            "100    1.65   -4.7    -2.3    5.8",
            Sighting(
                unit="step",
                current=100,
                series="step",
                metrics={"temp": 1.65, "e_pair": -4.7, "toteng": -2.3, "press": 5.8},
            ),
        ),
        (
            "Iter       Train Loss   Remaining Time",
            "20           0.5000            1.50m",
            Sighting(unit="step", current=20, series="iter", eta_s=90, metrics={"train_loss": 0.5}),
        ),
        (
            "| Epoch | Train Loss | Acc |",
            "|     3 |     0.5000 | 0.8 |",
            Sighting(
                unit="epoch",
                current=3,
                series="epoch",
                ordinal="ended",
                epoch=3,
                metrics={"train_loss": 0.5, "acc": 0.8},
            ),
        ),
        (
            "step | loss | lr",
            " 120 | 0.50 | 1e-3",
            Sighting(unit="step", current=120, series="step", metrics={"loss": 0.5, "lr": 0.001}),
        ),
        (
            "Step           Time",
            "5000       10.00000",
            Sighting(unit="step", current=5000, series="step"),
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
        "step size too small",
        "Step By Step Guide",
        "Epoch Training Complete",
        "epoch 3 done",
        "loss  accuracy  step",
        "step  3  loss",
        "Epoch 3 | Loss 4",
        "Epoch |",
        "step | a sentence in a cell",
        "| GPU  Name | Persistence-M |",
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


@pytest.mark.parametrize("line", ["", "1", "1 2 3", "one 2", "1.5 2", "-1 2", "1 b", "1e3 2"])
def test_what_is_no_row_between_blanks_is_none(line: str):
    assert CsvRows("", ("step", "loss")).read(line) is None


def test_the_reader_of_rows_is_state_that_comes_back():
    rows = CsvHeader().read("epoch,step,loss")
    assert rows is not None
    assert loads(CsvRows, dumps(rows)) == rows


@given(st.text(), st.text())
def test_any_text_is_survived(header: str, row: str):
    rows = CsvHeader().read(f"step,{header}") or CsvRows(",", ("step", "loss"))
    seen = rows.read(row)
    assert seen is None or (seen.current is not None and seen.current >= 0)
