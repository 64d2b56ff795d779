"""No secret survives, ordinary logs stay as they are."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schedmate.model.redaction import MARK, redact

ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"


def chars(alphabet, least, most=60):
    return st.text(alphabet, min_size=least, max_size=most)


def prefixed(prefix, alphabet, least):
    return chars(alphabet, least).map(lambda tail: prefix + tail)


SHAPED = st.one_of(
    prefixed("hf_", ALNUM, 30),
    prefixed("sk-", ALNUM, 20),
    prefixed("sk-proj-", URLSAFE, 20),
    prefixed("ghp_", ALNUM, 36),
    prefixed("github_pat_", ALNUM + "_", 22),
    prefixed("glpat-", URLSAFE, 20),
    prefixed("xoxb-", ALNUM + "-", 12),
    prefixed("AKIA", string.ascii_uppercase + string.digits, 16),
    prefixed("AIza", URLSAFE, 35),
    prefixed("nvapi-", URLSAFE, 40),
    st.builds("eyJ{}.eyJ{}.{}".format, chars(URLSAFE, 10), chars(URLSAFE, 10), chars(URLSAFE, 10)),
)
"""Keys that are known by their look, wherever they stand."""

HIDDEN = chars(ALNUM, 12, 40).filter(lambda text: not text.isdigit())
"""A secret that only its surroundings give away."""

SURROUNDINGS = [
    "WANDB_API_KEY={}",
    'export AWS_SECRET_ACCESS_KEY="{}"',
    "DB_PASSWORD='{}'",
    "password: {}",
    '{{"password": "{}", "user": "x"}}',
    "passwd={}",
    "MYSQL_PWD={}",
    "client_secret = {}",
    "token: {}",
    "HF_TOKEN={}",
    "--api-key {}",
    "--password {}",
    "--hub-token {}",
    "Authorization: Bearer {}",
    "authorization: Basic {}",
    "curl -H 'Authorization: token {}'",
    "using bearer {}",
    "https://user:{}@example.org/repo.git",
    "postgresql://mate:{}@db/mate",
    "https://{}0123456789@example.org/x",
    "https://bucket.example.org/a?X-Amz-Signature={}&x=1",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n{}",
]

BEFORE = st.sampled_from(["", " ", "\n", "step 3: ", "env: ", "'", '"', "(", "x=1, "])
AFTER = st.sampled_from(["", " ", "\n", "\nloss 2.3", "'", '"', ")", ", lr=1"])


@given(BEFORE, SHAPED, AFTER)
def test_known_shapes_do_not_survive(before, secret, after):
    clean = redact(before + secret + after)
    assert secret not in clean
    assert MARK in clean


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
@given(before=BEFORE, secret=HIDDEN, after=AFTER)
def test_what_stands_where_secrets_stand_does_not_survive(surroundings, before, secret, after):
    assume(secret not in surroundings)
    clean = redact(before + surroundings.format(secret) + after)
    assert secret not in clean
    assert clean.startswith(before)


PIECES = st.one_of(
    SHAPED,
    st.builds(str.format, st.sampled_from(SURROUNDINGS), HIDDEN),
    st.sampled_from(
        [MARK, "password=", "token: ", "Bearer ", "://", "@", ":", "'", '"', "=", "\n"]
    ),
    st.text(max_size=20),
)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)
    assert redact(once) == once


ORDINARY = """\
{'loss': 2.3146, 'grad_norm': 1.2, 'learning_rate': 4.98e-05, 'epoch': 0.01}
 24%|##4       | 1200/5000 [05:53<18:38,  3.40it/s, loss=2.31, tokens/s=12345]
step: 100 | tokens: 1234567 | tokens_per_second=81920 | num_tokens=4096 max_tokens: 256
train/loss_per_token: 2.34567891, bits per token = 3.3847561
tokenizer: meta-llama/Llama-3.1-8B tokenizer_class = LlamaTokenizerFast
  "pad_token": "<|endoftext|>", "eos_token": "</s>", "bos_token_id": 1, "token": null,
  "hub_token": "<HUB_TOKEN>", "use_auth_token": false, "push_to_hub_token": "<PUSH_TO_HUB_TOKEN>",
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
Permission denied (publickey,password).
fatal: password authentication failed for user "mate"
init_process_group(init_method=tcp://10.0.0.1:29500, rank=3)
wandb: View run at https://wandb.ai/team/project/runs/1a2b3c4d
commit 3f786850e387550fdab836ed7e6dc881de23001b
git clone ssh://git@example.org/team/repo.git, mail ann@example.org
PWD=/home/ann/run OLDPWD=/home/ann SECRETARY=bob task-0123456789abcdefghij disk-0123456789abcdef
File "/home/ann/sk-learn/train.py", line 12, in <module>
hf_hub_download(repo_id="bert-base-uncased") from hf_transfer
keyboard: qwerty, monkey=banana, key: value, api_key_file: unset
"""


@pytest.mark.parametrize(
    "line",
    [
        'wandb.login(key="{}")',
        "wandb.login('{}')",
        "wandb login {}",
        "wandb login --relogin {}",
        '  "key": "{}",',
    ],
)
def test_a_key_of_wandb_does_not_survive(line):
    """It has no look of its own: forty digits and letters."""
    secret = "0a1b2c3d4e" * 4
    assert secret not in redact(line.format(secret))


@pytest.mark.parametrize("line", ORDINARY.splitlines())
def test_ordinary_lines_stay_as_they_are(line):
    assert redact(line) == line


@given(st.text(alphabet=" \n.,:0123456789abcdefghij%|/[]<>", max_size=300))
def test_text_without_any_secret_word_stays_as_it_is(text):
    assert redact(text) == text


def test_a_hostile_megabyte_takes_no_time():
    for piece in ("password", "token=", "a://", "bearer ", "-----BEGIN PRIVATE KEY", "eyJa.", "x"):
        text = piece * (200_000 // len(piece))
        assert len(redact(text)) <= 2 * len(text)
