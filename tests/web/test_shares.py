"""Who gives up what, where there is only so much: always the oldest of who holds most, and never what is kept."""

import asyncio

import pytest

from pi_controller.web.connection_limits import ClientSemaphore, ConnectionLimits, client_network


@pytest.fixture
def given_up():
    return []


@pytest.fixture
def take(given_up):
    """Return what takes a share that says its name when it is given up."""
    return lambda shares, who, name: shares.take(who, lambda: given_up.append(name))


def test_host_with_most_connections_loses_its_oldest(take, given_up):
    shares = ConnectionLimits(4)
    for who, name in (("hall", "h1"), ("phone", "p1"), ("phone", "p2"), ("phone", "p3"), ("judge", "j1")):
        take(shares, who, name)
    assert given_up == ["p1"]
    take(shares, "phone", "p4")
    assert given_up == ["p1", "p2"]
    assert len(shares) == 4


def test_equal_hosts_lose_the_oldest_connection(take, given_up):
    shares = ConnectionLimits(2)
    for who in ("a", "b", "c"):
        take(shares, who, who)
    assert given_up == ["a"]


def test_host_at_its_limit_loses_its_own_oldest(take, given_up):
    shares = ConnectionLimits(10, each=2)
    for who, name in (("a", "a1"), ("b", "b1"), ("b", "b2"), ("b", "b3")):
        take(shares, who, name)
    assert given_up == ["b1"]


def test_release_frees_a_place_and_is_idempotent(take, given_up):
    shares = ConnectionLimits(1)
    share = take(shares, "a", "a")
    shares.release(share)
    shares.release(share)
    assert len(shares) == 0
    take(shares, "b", "b")
    assert given_up == []


def test_protected_connection_survives_and_takes_no_place(take, given_up):
    shares = ConnectionLimits(2, keeps=1)
    shares.protect(take(shares, "a", "judge"))
    for name in ("a1", "a2", "a3"):
        take(shares, "a", name)
    assert given_up == ["a1"]
    assert len(shares) == 3


def test_protection_limit_unprotects_the_oldest(take, given_up):
    shares = ConnectionLimits(1, keeps=1)
    for name in ("first", "second"):
        shares.protect(take(shares, "a", name))
    take(shares, "b", "b")
    assert given_up == ["first"]


def test_released_share_cannot_be_protected(take):
    shares = ConnectionLimits(1, keeps=1)
    share = take(shares, "a", "a")
    shares.release(share)
    shares.protect(share)
    assert len(shares) == 0


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "nowhere"),
        ("a name", "nowhere"),
    ],
)
def test_one_host_has_one_place(address, place):
    assert client_network(address) == place


def test_no_client_takes_all_turns(loop):
    turns, begun = ClientSemaphore(3, 2), []

    async def take(who):
        async with turns.take(who):
            begun.append(who)
            await asyncio.sleep(10.0)

    for who in ("a", "a", "a", "a", "b", "c"):
        loop.create_task(take(who))
    loop.advance(1.0)
    assert begun == ["a", "a", "b"]
    loop.advance(10.0)
    assert sorted(begun[3:]) == ["a", "a", "c"]
