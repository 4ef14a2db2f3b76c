"""Who signs in on the hub's plain and encrypted pages."""

from contextlib import closing

import pytest
from hub_site import Site, certify

from pi_controller.hub.setup import SERVER, HubSetupError, load_server_tls
from pi_controller.web.connection_limits import is_loopback


@pytest.mark.parametrize(
    ("address", "scheme", "allowed", "plain"),
    [
        ("192.0.2.7", "http", False, False),
        ("2001:db8::7", "http", False, False),
        ("192.0.2.7", "https", False, True),
        ("192.0.2.7", "http", True, True),
        ("127.0.0.1", "http", False, True),
        ("::ffff:127.0.0.1", "http", False, True),
        ("::1", "http", False, True),
    ],
)
def test_plain_sign_in_is_refused_unless_allowed(tmp_path, address, scheme, allowed, plain):
    with closing(Site(certify(tmp_path / "hub"), plain_sign_in=allowed)) as site:
        who, pins = site.add_person(), site.pages._signing.authenticator.pins
        looked_at, web = pins.hashed, site.browser(address, f"{scheme}://127.0.0.1")
        shown, came = web.get("/director"), web.post("/director/sign-in", json=who)
        assert ('id="pin"' in shown.text) is plain
        assert (f"https://127.0.0.1:{site.pages.secure_port}/director" in shown.text) is not plain
        assert ("others in this network can read the PIN" in shown.text) is allowed
        assert came.status_code == (200 if plain else 403)
        assert (pins.hashed > looked_at) is plain, "a PIN that came in the clear is not even compared"


def test_page_without_certificate_names_hub_setup(tmp_path):
    with closing(Site(tmp_path)) as site:
        assert site.pages.secure_url == ""
        for path in ("/director", "/director/sign-in"):
            assert "hub setup" in site.browser("192.0.2.7").get(path).text


@pytest.mark.parametrize("content", [b"", b"not a certificate"])
def test_damaged_certificate_is_a_setup_error(tmp_path, content):
    (certify(tmp_path) / SERVER).write_bytes(content)
    with pytest.raises(HubSetupError, match="certificate"):
        load_server_tls(tmp_path)


@pytest.mark.parametrize(
    ("address", "own"),
    [
        *[(one, True) for one in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1")],
        *[(one, False) for one in ("::2", "192.0.2.7", "::ffff:192.0.2.7", "nowhere", "")],
    ],
)
def test_addresses_of_this_machine(address, own):
    assert is_loopback(address) is own
