"""A private key in a log is masked as a whole, wherever a range begins."""

from __future__ import annotations

import pytest

from schedmate.model.account import account_name
from schedmate.model.key_blocks import LONGEST, KeyBlocks
from schedmate.service.views.log_ranges import open_log
from schedmate.service.views.log_search import search

PIECES = ("MIIEowIB", "short1", "sQ==")
"""Lines too short to look like a key by themselves."""
BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
KEY = "\n".join((BEGIN, *PIECES, END))


def no_piece_in(text):
    return not any(piece in text for piece in PIECES)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "a.log"
    path.write_text(f"before\n{KEY} behind\nafter\n")
    with open_log(path, account_name()) as opened:
        yield opened


def test_every_range_masks_it(log):
    for at in range(log.size + 1):
        for count in (1, 2, 400):
            for found in (
                log.forwards(at, lines=count, masked=True),
                log.backwards(at, lines=count, masked=True),
            ):
                text = "\n".join(line.screen.text for line in found.lines)
                assert no_piece_in(text), (at, count)


def test_the_lines_around_it_are_shown(log):
    found = [line.screen.text for line in log.forwards(0, masked=True).lines]
    assert found == ["before", *["[redacted]"] * 4, "[redacted] behind", "after"]
    shown = [line.screen.text for line in log.forwards(0, masked=False).lines]
    assert shown[1:5] == [BEGIN, *PIECES]


@pytest.mark.parametrize("piece", PIECES)
def test_no_search_finds_it(log, piece):
    assert not search(log, piece, masked=True).lines
    assert search(log, piece, masked=False).lines


@pytest.mark.parametrize(
    "text",
    [
        KEY.replace("\n", "\r\n"),
        KEY.replace("\n", "\r"),
        KEY.replace("\n", "\n[rank0]: "),
        KEY.replace("PRIVATE", "\x1b[31mPRIVATE\x1b[0m"),
        KEY.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
        KEY.removesuffix(END),
    ],
)
def test_other_forms_of_it(text):
    masked = KeyBlocks().masked_lines(f"before {text}\n".encode()).decode()
    assert no_piece_in(masked)
    assert masked.startswith("before [redacted]")


@pytest.mark.parametrize("text", ["----- epoch 1 -----\n", "-----BEGIN CERTIFICATE-----\nMII\n"])
def test_other_lines_of_dashes_hide_nothing(text):
    assert KeyBlocks().masked_lines(text.encode()) == text.encode()


def test_a_key_without_an_end_does_not_hide_the_rest_of_the_log():
    lines = b"step 1\n" * LONGEST
    assert KeyBlocks().masked_lines(f"{BEGIN}\n".encode() + lines).endswith(b"step 1\n")
