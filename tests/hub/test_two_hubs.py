"""What a hub keeps in memory and another hub of the venue changes in their store."""

from contextlib import closing

import pytest
import travel

from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.join_server import JoinServer
from pi_controller.hub.settings import HubSettings
from pi_controller.hub.store import StoreError, open_store
from pi_controller.hub.tokens import REREAD_S, JoinServerError, Tokens
from pi_controller.tournament import decisions as d


@pytest.fixture
def hubs(where):
    """Return the tokens as two hubs of a venue use them."""
    with Tokens(where) as one, Tokens(where) as other:
        yield one, other


def test_token_revoked_elsewhere_ends_within_a_second(hubs):
    one, other = hubs
    token = one.issue("t01")
    other.refresh(0.0)
    assert other.is_valid("t01", token)
    one.revoke("t01")
    other.refresh(REREAD_S - 0.01)
    assert other.is_valid("t01", token), "it reads once a second at most"
    assert other.is_due(REREAD_S)
    other.refresh(REREAD_S)
    assert not other.is_valid("t01", token)


def test_token_replaced_elsewhere_is_the_only_valid_one(hubs):
    one, other = hubs
    first = other.issue("t01")
    second = one.issue("t01")
    other.refresh(0.0)
    assert (other.is_valid("t01", first), other.is_valid("t01", second)) == (False, True)
    assert not other.is_valid("t02", second)


def test_tokens_list_tables_joined_elsewhere(hubs, tmp_path):
    one, other = hubs

    async def join():
        desk = JoinServer(tmp_path, HubSettings(), other, tuple, print, 8443, b"")
        assert desk.joining.joined == frozenset()
        one.issue("t01")
        other.refresh(0.0)
        return desk.joining.joined

    assert travel.run(join()) == {"t01"}


def test_code_opened_at_one_hub_works_at_the_other(hubs):
    one, other = hubs
    one.open_code("t01", "once", 0.0)
    other.refresh(REREAD_S)
    assert [table for table, _ in other.waiting(REREAD_S)] == ["t01"], "the other's pages show it too"
    table, token = other.redeem("once", 2.0)
    one.refresh(2.0)
    assert (one.waiting(2.0), one.is_valid(table, token)) == ((), True)
    with pytest.raises(JoinServerError, match="was used"):
        one.redeem("once", 3.0)
    with pytest.raises(JoinServerError, match="is a table t01 already"):
        one.open_code("t01", "again", 3.0)
    one.open_code("t01", "again", 3.0, anew=True)
    other.close_code("t01")
    with pytest.raises(JoinServerError, match="revoked"):
        one.redeem("again", 4.0)


def test_unreadable_store_leaves_tokens_valid(where):
    with Tokens(where) as tokens, closing(open_store(where)) as other:
        token = tokens.issue("t01")
        other.execute("ALTER TABLE tokens RENAME TO away")
        tokens.refresh(0.0)
        assert tokens.is_valid("t01", token)
        assert not tokens.is_due(0.5), "it does not ask again at once"
        assert tokens.is_due(REREAD_S)


def test_hub_follows_decisions_made_elsewhere_meanwhile(where):
    """As after the connection of a directing hub broke: the other one directed until it came back."""
    with Inbox(where) as inbox, TournamentLog(where) as first_log, TournamentLog(where) as second_log:
        first, second = Director(first_log, inbox), Director(second_log, inbox)
        first.decide(0.0, "Ann", d.Planned("cup"))
        second.claim()
        second.decide(1.0, "Ann", d.Announced("hello"))
        with pytest.raises(StoreError):
            first.decide(1.0, "Ann", d.Announced("goodbye"))
        first.claim()
        assert first.now.announcement == "hello"
        assert first.history.decisions == second.history.decisions
