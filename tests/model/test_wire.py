from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass, fields
from functools import cache

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from model.values import values
from schedmate.model import (
    Action,
    ActionRecord,
    Advice,
    BadInput,
    Diagnosis,
    Evidence,
    Job,
    LlmCall,
    PastRun,
    Progress,
    Request,
    Spread,
    Submission,
    Workload,
    wire,
)
from schedmate.model.codecs import UnfitError, codec
from schedmate.testing.builders import a_job, a_past_run, a_progress

PUBLIC = (
    Action,
    ActionRecord,
    Advice,
    Diagnosis,
    Evidence,
    Job,
    LlmCall,
    PastRun,
    Progress,
    Request,
    Spread,
    Submission,
    Workload,
)


@cache
def schema_of(kind):
    """Built and checked once, which takes longer than to validate a value."""
    schema = wire.json_schema(kind)
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    return validator(schema)


@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
)
@given(data=st.data())
def test_every_value_survives_json_and_keeps_to_its_schema(kind, data):
    value = data.draw(values(kind))

    assert wire.loads(kind, wire.dumps(value)) == value
    assert wire.from_json(kind, json.loads(json.dumps(wire.to_json(value)))) == value
    schema_of(kind).validate(wire.to_json(value))


def test_all_fields_are_written_even_where_nothing_is_known():
    written = wire.to_json(Workload())

    assert list(written) == [field.name for field in fields(Workload)]
    assert set(written.values()) == {None}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"log": 3}', b"\xff\x00", "{" * 10_000, '{"log": "x", "cost": 1}'],
    ids=["empty", "open", "list", "null", "type", "binary", "deep", "nested"],
)
def test_bad_json_is_one_sentence(text):
    with pytest.raises(BadInput, match=r"^not a valid Progress: [^\n]+$"):
        wire.loads(Progress, text)


def test_bad_plain_data_names_the_field():
    with pytest.raises(BadInput, match="not a valid Job: id: "):
        wire.from_json(Job, {"name": "x"})


def test_a_word_outside_the_spec_is_refused():
    with pytest.raises(BadInput, match="phase"):
        wire.loads(Progress, '{"log": "x", "phase": "thinking"}')


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_in_json_is_left_out_of_it(odd):
    progress = a_progress(metrics={"loss": odd, "lr": 0.1}, rate_per_s=odd)

    strict = json.loads(wire.dumps(progress), parse_constant=pytest.fail)

    assert strict["metrics"] == {"lr": 0.1}
    assert strict["rate_per_s"] is None
    assert wire.to_json(progress) == strict
    jsonschema.validate(strict, wire.json_schema(Progress))


def test_a_path_that_is_no_utf8_is_written_readably_instead_of_failing():
    job = a_job(name="caf\udce9", submit_time=math.inf)

    for written in (wire.dumps(job), json.dumps(wire.to_json(job), ensure_ascii=False)):
        plain = json.loads(written.encode())
        assert plain["name"] == "caf?"
        assert plain["submit_time"] is None
    assert wire.to_json(a_past_run(job=job))["job"]["command"] == ["python", "train.py"]


@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_a_codec_reads_and_writes_what_pydantic_does(kind, data):
    value, adapter = data.draw(values(kind)), TypeAdapter(kind)

    written = codec(kind).write(value)

    by_pydantic = adapter.dump_json(value)
    assert json.dumps(written) == json.dumps(json.loads(by_pydantic))
    assert codec(kind).read(json.loads(by_pydantic)) == adapter.validate_json(by_pydantic)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Request, {"gpus": "3"}),
        (Request, {"gpus": 3.0}),
        (Request, {"time_limit_s": 60}),
        (Request, {"exclude_nodes": ("n1",), "unheard": 1}),
        (Job, {**wire.to_json(a_job()), "state": "RUNNING"}),
        (Spread, {"p10": 1, "p50": True, "p90": 2}),
    ],
)
def test_the_first_value_is_read_like_the_hundredth(kind, data):
    first = wire.from_json(kind, data)
    for _ in range(wire._FEW):
        wire.from_json(kind, data)

    assert repr(first) == repr(wire.from_json(kind, data)) == repr(_by_pydantic(kind, data))


def _by_pydantic(kind, data):
    return TypeAdapter(kind).validate_python(data)


@pytest.mark.parametrize(
    "data",
    [{}, {"p10": 3, "p50": 2, "p90": 1}, {"p10": 1, "p50": None, "p90": 2}, [1, 2, 3]],
    ids=["missing", "no spread", "type", "list"],
)
def test_a_codec_leaves_what_does_not_fit_to_pydantic(data):
    with pytest.raises((UnfitError, ValueError)):
        codec(Spread).read(data)
    with pytest.raises(BadInput, match="not a valid Spread"):
        wire.from_json(Spread, data)


@pytest.mark.processes
def test_a_few_records_are_read_without_pydantic():
    program = (
        "import sys; from schedmate.model import Request, wire; "
        "wire.loads(Request, wire.dumps(Request(gpus=2))); print('pydantic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "False"


def test_numbers_as_keys_are_texts_in_json():
    value = _Numbered({3: 1.5, -2: 0.0})

    assert codec(_Numbered).write(value) == {"by_number": {"3": 1.5, "-2": 0.0}}
    assert codec(_Numbered).read(codec(_Numbered).write(value)) == value
    with pytest.raises(UnfitError):
        codec(_Numbered).read({"by_number": {"03": 1.0}})


@dataclass
class _Numbered:
    by_number: dict[int, float]


def test_a_type_without_a_codec_is_left_to_pydantic_each_time():
    for _ in range(3):
        assert wire.loads(_Odd, wire.dumps(_Odd(1, frozenset({2})))) == _Odd(1, frozenset({2}))


@dataclass
class _Odd:
    plain: int
    odd: frozenset[int]
