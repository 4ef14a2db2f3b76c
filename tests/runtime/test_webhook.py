"""The webhook: signed messages to a real HTTP server, sent again until they are accepted, and to nobody else."""

import msgspec
import pytest
from phases import PHASES
from pydantic import ValidationError

from pi_controller.config import Settings
from pi_controller.errors import SettingsError
from pi_controller.runtime.webhook import (
    Webhook,
    events_between,
    make_webhook,
)

KEY = b"correct horse battery"


@pytest.mark.parametrize(
    ("before", "after", "events"),
    [
        (None, "over", []), ("hit", "hit", []), ("hit", "second", []), ("hit", "found", ["turn"]),
        ("hit", "over", ["over"]), ("hit", "asked", ["question"]), ("asked", "asked", []), ("over", "over", []),
    ],
)  # fmt: skip
def test_view_changes_give_their_events(before, after, events):
    assert events_between(before and PHASES[before], PHASES[after]) == events


def test_mat_link_loss_is_fault_unlike_return():
    down, up = (msgspec.structs.replace(PHASES["hit"], link=link) for link in (False, True))
    assert events_between(up, down) == ["fault"]
    assert events_between(down, up) == []


def settings_with(**webhook):
    return Settings(webhook={"url": "https://example.org/hook", **webhook})


def test_missing_or_short_key_is_refused(tmp_path):
    with pytest.raises(ValidationError):
        settings_with()
    path = tmp_path / "key"
    with pytest.raises(SettingsError, match="cannot be read"):
        make_webhook(settings_with(key_file=str(path)))
    path.write_text("short\n")
    with pytest.raises(SettingsError, match="shorter"):
        make_webhook(settings_with(key_file=str(path)))
    path.write_bytes(KEY)
    assert isinstance(make_webhook(settings_with(key_file=str(path))), Webhook)


@pytest.mark.parametrize("url", ["ftp://example.org/", "example.org", "file:///etc/passwd", "http://a b/"])
def test_other_addresses_are_refused(url):
    with pytest.raises(ValueError, match="url"):
        Settings(webhook={"url": url, "key_file": "key"})
