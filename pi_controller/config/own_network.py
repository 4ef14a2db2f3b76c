"""The network that a card's machine opens itself: its address, and the code by which a phone joins."""

OWN_ADDRESS = "10.42.0.1"
"""The machine's address in its own network."""


def wifi_code(network: str, password: str) -> str:
    """Return the text of a QR code by which a phone joins a network."""
    from segno.helpers import make_wifi_data  # noqa: PLC0415 - slow to import, and only needed for a QR code

    return make_wifi_data(network, password, "WPA")
