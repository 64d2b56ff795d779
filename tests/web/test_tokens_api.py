"""Users make, list and revoke tokens of their own; operators those of all."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from schedmate.client import Client
from schedmate.model import BadInput, JobState, NotFound, NotSignedIn
from schedmate.service.usecases import tokens as usecase
from schedmate.service.usecases.tokens import create_token
from schedmate.testing.builders import a_job, a_past_run
from web.conftest import post_form

pytestmark = pytest.mark.processes


@pytest.fixture
def as_ada(served):
    served.taken_for("ada")
    return Client(served.url(""))


def test_a_user_makes_lists_and_revokes_a_token_of_their_own(served, as_ada):
    made = as_ada.create_token(name="laptop", days=30)
    assert (made.user, made.scope, made.name, made.created_by) == ("ada", "user", "laptop", "ada")
    assert made.expires_at == pytest.approx(time.time() + 30 * 86400, abs=600)
    with_it = Client(served.url(""), token=made.secret)
    assert (with_it.me().user, with_it.me().operator) == ("ada", False)
    [listed] = as_ada.tokens()
    assert listed.id == made.id
    assert made.secret not in served.get("/api/v1/tokens").text
    assert as_ada.revoke_token(made.id).revoked_at is not None
    with pytest.raises(NotSignedIn):
        with_it.me()
    acts = [(one.user, one.action) for one in served.store.acts()]
    assert ("ada", "create a token") in acts
    assert ("ada", "revoke a token") in acts


def test_those_of_others_are_not_there(served, as_ada):
    bobs, _ = create_token(served.store, "bob", days=1)
    assert list(as_ada.tokens()) == []
    with pytest.raises(NotFound):
        as_ada.revoke_token(bobs.id)
    for wanted in ({"user": "bob"}, {"scope": "operator"}):
        with pytest.raises(NotSignedIn, match="only operators"):
            as_ada.create_token(**wanted)
    with pytest.raises(BadInput, match="365 days"):
        as_ada.create_token(days=2000)
    served.taken_for("root", operator=True)
    assert as_ada.create_token(user="nobody", scope="operator", days=2000).scope == "operator"
    assert {one.user for one in as_ada.tokens()} == {"bob", "nobody"}
    as_ada.revoke_token(bobs.id)


def test_one_for_a_user_whom_nothing_knows_is_refused(served):
    served.taken_for("root", operator=True)
    client = Client(served.url(""))
    with pytest.raises(BadInput, match="no account of this machine is called 'adda'"):
        client.create_token(user="adda")
    assert list(client.tokens()) == []
    served.store.keep_run(a_past_run(job=a_job(id="7", user="adda", state=JobState.COMPLETED)))
    assert client.create_token(user="adda").user == "adda", "has run jobs here"
    assert client.create_token(user="nobody").warning == ""


def test_a_proxy_may_know_users_that_this_machine_does_not(served):
    web = replace(served.site.settings.web, proxy_header="X-User")
    served.site.settings = replace(served.site.settings, web=web)
    served.taken_for("root", operator=True)
    made = Client(served.url("")).create_token(user="adda")
    assert made.user == "adda"
    assert "no account of this machine is called 'adda'" in made.warning


def test_a_token_made_with_a_token_may_no_more_and_ends_with_it(served):
    first, secret = create_token(served.store, "ada", days=1)
    with_first = Client(served.url(""), token=secret)
    second = with_first.create_token(days=300)
    assert second.expires_at == first.expires_at
    third = Client(served.url(""), token=second.secret).create_token()
    with pytest.raises(NotSignedIn):
        with_first.create_token(scope="operator")
    with_first.revoke_token(first.id)
    assert all(one.revoked_at is not None for one in served.store.tokens())
    with pytest.raises(NotSignedIn):
        Client(served.url(""), token=third.secret).me()


def test_no_user_can_fill_the_store(served, as_ada, monkeypatch):
    monkeypatch.setattr(usecase, "_MOST_OWN", 3)
    made = [as_ada.create_token() for _ in range(3)]
    as_ada.revoke_token(made[0].id)
    with pytest.raises(BadInput, match="3 tokens already"):
        as_ada.create_token()


def test_lists_come_in_pages(served, as_ada):
    for _ in range(3):
        as_ada.create_token()
    first = served.get("/api/v1/tokens?limit=2").json
    second = served.get(f"/api/v1/tokens{first['next']}").json
    assert (first["total"], len(first["tokens"]), len(second["tokens"])) == (3, 2, 1)


def test_no_other_sites_page_can_make_one(served, as_ada):
    for headers in ({"Origin": "https://evil"}, {"Sec-Fetch-Site": "cross-site"}):
        assert served.post("/api/v1/tokens", {}, **headers).status == 403
    assert not served.store.tokens()


def test_by_the_page(served, as_ada):
    shown = served.get("/me").text
    given = re.search(r'name="token" value="(\w+)"', shown)[1]
    made = post_form(served, "/me/tokens", token=given, name="<b>lap</b>", days="7")
    assert made.status == 303, "a page that is loaded again makes no second token"
    first = served.get(made.headers["location"])
    assert first.headers["cache-control"] == "no-store"
    secret = re.search(r"smt_[\w-]+", first.text)[0]
    assert secret not in served.get(made.headers["location"]).text
    assert Client(served.url(""), token=secret).me().user == "ada"
    shown = served.get("/me").text
    assert secret not in shown
    assert "&lt;b&gt;lap" in shown
    [token] = served.store.tokens()
    assert post_form(served, "/me/tokens", token="0" * 64).status == 403
    assert post_form(served, "/me/tokens", token=given, days="soon").status == 400
    assert post_form(served, f"/me/tokens/{token.id}/revoke", token=given).status == 303
    assert served.store.tokens()[0].revoked_at is not None
