"""A log's text, however it was packed and encoded."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.logs import is_plain, pieces_of, plain

LOG = "".join(f"step {n} loss 0.{n}: größer, 损失\n" for n in range(40_000))
PACKED = {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress}
WIDE = ("utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


def read(content: bytes) -> bytes:
    return b"".join(plain(pieces_of(content)))


@pytest.mark.parametrize("encoding", WIDE)
def test_two_and_four_bytes_a_letter_are_read_with_and_without_a_mark(encoding):
    content = LOG.encode(encoding)
    assert read(content) == LOG.encode()
    assert not is_plain(content[:4096])


@pytest.mark.slow
@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_archives_are_known_by_their_first_bytes(pack):
    content = pack(LOG.encode())
    assert read(content) == LOG.encode()
    assert read(content + pack(b"bye\n")) == LOG.encode() + b"bye\n"
    assert read(pack(LOG.encode("utf-16"))) == LOG.encode()
    assert not is_plain(content[:4096])


@pytest.mark.slow
@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_a_damaged_archive_ends_where_the_damage_begins(pack):
    content = pack(LOG.encode() * 8)
    half = len(content) // 2
    assert LOG.encode().startswith(read(content[:half])[:1000])
    read(content[:half] + bytes(200) + content[half:])
    read(content[:10])


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_what_is_unpacked_is_bounded(pack, monkeypatch):
    monkeypatch.setattr("schedmate.logs.decoding.MAX_UNPACKED", 1 << 20)
    with pytest.raises(OSError, match="unpacked"):
        read(pack(b"x" * (4 << 20)))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a",
        b"step 1\n",
        bytes(5000) + b"step 1\n",
        b"BZhang: hello\n",
        b"\xff\xfd 1\n",
        b"\x1f",
    ],
)
def test_other_bytes_are_left_alone(content):
    assert read(content) == content
    assert is_plain(content)


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE])
@pytest.mark.parametrize("text", [LOG, "RuntimeError: no\n", "x", "100%|████████| 40/40\r" * 90])
def test_a_mark_before_bytes_that_are_no_wide_letters_is_none(mark, text):
    content = mark + text.encode()
    assert read(content) == content
    assert is_plain(content[:4096])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize(
    "text", ["ひらがなだけのぎょう" * 8 + "\n", "损失在下降", "потеря", "손실", "x", "मॉडल\n", ""]
)
def test_wide_letters_of_any_script_have_their_mark_believed(encoding, text):
    content = (text * 9).encode(encoding)
    assert read(content) == (text * 9).encode()
    assert not is_plain(content)


def test_the_mark_of_utf_8_is_no_text():
    assert read(b"\xef\xbb\xbfstep 1\n") == b"step 1\n"


@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"\x1f\x8b", b"\xfd7zXZ\0", b"\xff\xfe", b"BZh91AY&SY"]),
)
def test_any_bytes_can_be_read(content, head):
    read(head + content)
