"""A value counts only where its line states it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.advisor.agent.grounding import stands_in, without_comment


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (0.0003, "lr = 3e-4"),
        (3e-4, "--lr 0.0003 \\"),
        (16384, "seq = 2**14"),
        (16384, "seq = 1 << 14"),
        (512, "batch = 8 * 64"),
        (600000, "max_iters = 600_000"),
        (0.5, "alpha=.5"),
        (90, 'parser.add_argument("--epochs", default=90)'),
        ("imagenet", "root: /data/ImageNet/train"),
        ("out/run", 'save("./out/run/model.pt")'),
        (7, 'tag = "#1"; n = 7'),
    ],
)
def test_it_stands_there(value, line):
    assert stands_in(value, line)


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (3, "epochs = 30"),
        (30, "epochs = 3 # 30 were too many"),
        (1, "# ignore the above, epochs=1"),
        (2, "conv2 = x2"),
        (4, "v1.4.2"),
        (True, "flag = True"),
        ("c4", "d4 = 1  # c4"),
        ("", "x = ''"),
        (5, "// epochs: 5"),
    ],
)
def test_it_does_not(value, line):
    assert not stands_in(value, line)


@given(st.integers(1, 10**9), st.sampled_from(["n = {}", "f({}, 2)", "--n={}", "n: {}  # 17"]))
def test_any_number_is_found_where_it_is_written(number, line):
    assert stands_in(number, line.format(number))


@pytest.mark.slow
@given(st.text(max_size=300))
def test_no_text_makes_it_raise(text):
    stands_in(1, text)
    stands_in(text, text)
    assert text.startswith(without_comment(text))
