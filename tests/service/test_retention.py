"""What the daemon drops beside its looks."""

from __future__ import annotations

from contextlib import closing

import pytest

from schedmate.config import Settings
from schedmate.service.daemon.retention import Retention
from schedmate.service.usecases.tokens import create_token, revoke_token
from schedmate.service.wiring import open_store

DAY_S = 86_400.0


@pytest.fixture
def store(tmp_path):
    with closing(open_store(Settings(state_dir=tmp_path / "state"))) as found:
        yield found


def test_a_token_is_dropped_a_season_after_its_end_and_its_acts_stay(store):
    token, _ = create_token(store, "ada", days=1, by="ada")
    kept, _ = create_token(store, "ada", days=3650, by="ada")
    revoked = revoke_token(store, token.id, by="ada").revoked_at

    Retention(store, Settings(), ()).step(revoked + 89 * DAY_S)
    assert {one.id for one in store.tokens()} == {token.id, kept.id}
    Retention(store, Settings(), ()).step(revoked + 91 * DAY_S)

    assert [one.id for one in store.tokens()] == [kept.id]
    acts = store.acts(about=f"token {token.id}")
    assert {act.action for act in acts} == {"create a token", "revoke a token"}
