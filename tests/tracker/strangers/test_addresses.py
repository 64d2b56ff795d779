"""The numbers in web addresses and paths name things; they count nothing."""

from __future__ import annotations

from io import BytesIO

import pytest

from schedmate.tracker import track_stream
from schedmate.tracker.addresses import without_addresses

LINES = {
    "access log": '10.0.0.3 - - [17/Nov/2026 11:00:{second:02d}] "GET /{n}/100 HTTP/1.1" 200 512',
    "address": "serving https://host/tiles/{n}/100/x.png to a client",
    "query": 'INFO: "GET /items?page={n}/100 HTTP/1.1" 200 OK',
    "path": "wrote /data/run/{n}/100/part.bin",
    "relative path": "fetched page/{n}/100",
    "port": "connection from 10.0.0.3:{n}",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_number_in_an_address_is_no_count(line: str):
    lines = [line.format(n=n, second=n % 60) for n in range(1, 90)]
    seen = track_stream(BytesIO("\n".join([*lines, ""]).encode()), name="server.log")
    assert (seen.current, seen.total, seen.fraction) == (None, None, None)


def test_a_count_beside_an_address_is_one():
    lines = [f"[{n}/100] fetched https://host/tiles/{n}/7.png" for n in range(1, 61)]
    seen = track_stream(BytesIO("\n".join([*lines, ""]).encode()), name="fetch.log")
    assert (seen.current, seen.total) == (60, 100)


@pytest.mark.parametrize(
    "line", ["step 12 /100", "loss 0.3 (12/100)", "350/1583 it/s", "17/11/2026", "a/b 3/4"]
)
def test_a_count_is_no_address(line: str):
    assert without_addresses(line) == line
