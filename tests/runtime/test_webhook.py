"""The webhook: signed messages, sent again until they are accepted."""

import hashlib
import hmac
import json

import msgspec
import pytest
from phases import PHASES
from pydantic import ValidationError

from pi_controller.config import Settings
from pi_controller.errors import SettingsError
from pi_controller.web.webhook import (
    ATTEMPTS,
    Webhook,
    WebhookError,
    events_between,
    make_webhook,
)

KEY = b"correct horse battery"


class Receiver:
    """Keeps what it is sent; `answers` are its next ones, then it accepts everything."""

    def __init__(self, *answers):
        self.came, self.waited, self._answers = [], [], list(answers)

    def send(self, body, signature):
        self.came.append((body, signature))
        if self._answers and not self._answers.pop(0):
            raise WebhookError("no")

    def tell(self, *phases, wanted=("turn", "over", "question", "fault")):
        """Send the views of `phases` one after the other."""
        hook = Webhook("Table 2", KEY, wanted, self.send, self.waited.append, lambda: 1764230400.25)
        for phase in phases:
            hook.on_view(PHASES[phase])


def test_message_is_signed_and_has_public_view():
    receiver = Receiver()
    receiver.tell("hit", "over")
    ((body, signature),) = receiver.came
    message = json.loads(body)
    assert receiver.waited == []
    assert signature == "sha256=" + hmac.new(KEY, body, hashlib.sha256).hexdigest()
    assert (message["event"], message["table"], message["sent"]) == ("over", "Table 2", 1764230400.25)
    assert message["view"] == json.loads(msgspec.json.encode(PHASES["over"]))


def test_unwanted_events_are_not_sent():
    receiver = Receiver()
    receiver.tell("hit", "over", wanted=("question",))
    assert receiver.came == []


def test_refused_message_is_retried_then_dropped(caplog):
    receiver = Receiver(False, False)
    receiver.tell("hit", "over")
    assert receiver.waited == [1.0, 2.0]
    assert len(receiver.came) == 3
    assert len(set(receiver.came)) == 1
    receiver = Receiver(*[False] * ATTEMPTS)
    receiver.tell("hit", "over")
    assert receiver.waited == [2.0**n for n in range(ATTEMPTS - 1)]
    assert "webhook" in caplog.text


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
