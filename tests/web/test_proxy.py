"""Behind a TLS proxy: what it says of who asks and how is believed, and what anybody else says of it is not."""

import pytest
from judge_house import PIN, House, sign_in

from pi_controller.config import Settings
from pi_controller.errors import MatError
from pi_controller.web import sign_in as console
from pi_controller.web.throttle import FREE_TRIES

PROXY, OTHER = "127.0.0.9", "127.0.0.8"


@pytest.fixture
def house(tmp_path):
    house = House(tmp_path, proxy=PROXY)
    yield house
    house.close()


def through(web, client, scheme="https"):
    """Let what `web` sends say that `client` sent it to a proxy by `scheme`."""
    web.headers["x-forwarded-for"] = client
    web.headers["x-forwarded-proto"] = scheme
    web.headers["origin"] = web.headers["origin"].replace("http:", f"{scheme}:")
    return web


def wrong(web):
    """Try wrong PINs of Ann until she has to wait."""
    for _ in range(FREE_TRIES):
        assert sign_in(web, "Ann", "000000").status_code == 401


def test_wrong_pins_are_counted_per_proxied_client(house):
    with house.browser(PROXY) as web:
        through(web, "192.0.2.66")
        wrong(web)
        assert sign_in(web, "Ann").status_code == 429
        through(web, "192.0.2.7")
        assert sign_in(web, "Ann").status_code == 200


def test_last_forwarded_address_counts_as_the_client(house):
    with house.browser(PROXY) as web:
        through(web, "192.0.2.7, 192.0.2.66")
        wrong(web)
        through(web, "192.0.2.8, 192.0.2.66")
        assert sign_in(web, "Ann").status_code == 429


def test_forwarded_address_from_another_host_is_ignored(house):
    with house.browser(OTHER) as web:
        for n in range(FREE_TRIES):
            sign_in(through(web, f"192.0.2.{n}"), "Ann", "000000")
        through(web, "192.0.2.200")
        assert sign_in(web, "Ann").status_code == 429
    with house.browser(PROXY) as web:
        assert sign_in(web, "Ann").status_code == 200


@pytest.mark.parametrize(
    ("address", "scheme", "secure"), [(PROXY, "https", True), (PROXY, "http", False), (OTHER, "https", False)]
)
def test_the_cookies_are_secure_behind_tls(house, address, scheme, secure):
    with house.browser(address) as web:
        answer = sign_in(through(web, "192.0.2.7", scheme), "Ann")
        assert answer.status_code == 200
        cookies = answer.headers.get_list("set-cookie")
        assert {one.partition("=")[0] for one in cookies} == {console.SESSION, console.DEVICE}
        assert [("; secure" in one.lower()) for one in cookies] == [secure] * 2


def test_forwarded_headers_are_ignored_without_configured_proxy(tmp_path):
    house = House(tmp_path)
    try:
        with house.browser("127.0.0.1") as web:
            answer = sign_in(through(web, "192.0.2.7"), "Ann", PIN)
            assert not any("; secure" in one.lower() for one in answer.headers.get_list("set-cookie"))
    finally:
        house.close()


@pytest.mark.parametrize("proxy", ["localhost", "127.0.0.1/8", "127.0.0.1:80", "*", "10.0.0"])
def test_a_proxy_is_one_address(proxy):
    with pytest.raises((MatError, ValueError), match="must be an address in numbers"):
        Settings.model_validate({"web": {"proxy": proxy}})
