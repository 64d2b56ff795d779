"""What was stated of a field, settled."""

import pytest

from schedmate.advisor.settle.merging import merged
from schedmate.advisor.settle.statements import Kind, Stated
from schedmate.model import Evidence


@pytest.mark.parametrize(
    ("help_text", "expected"),
    [
        ("Maximum number of tokens to generate.", None),
        ("Longest generated sequence.", None),
        ("Longest text after tokenization.", 128),
    ],
)
def test_how_much_may_be_written_is_no_length_of_what_is_learnt_from(help_text, expected):
    line = Evidence("main.py", 3, f'add_argument("--max_length", default=128, help="{help_text}")')
    option = Stated(
        name="max_length",
        value=128,
        kind=Kind.OPTION,
        source="code",
        evidence=(line,),
        confidence=0.9,
    )
    found = merged([option]).get("sequence_length")
    assert (None if found is None else found.value) == expected
