"""MQTT for both sides: a connection that comes back, MQTT 5 where there are accounts.

Without an account it is MQTT 3.1.1: the hub's own broker knows no other.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import aiomqtt

from pi_controller.errors import SettingsError
from pi_controller.fleet.messages import encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_controller.fleet.messages import Message

log = logging.getLogger(__name__)
QOS = 1
KEEPALIVE_S = 10
"""A broker that hears nothing for half as long again publishes the last will."""
AGAIN_S, MOST_S = 0.25, 2.0
"""After so long a lost connection is tried again, then after twice as long, and so on."""
TIMEOUT_S = 10.0
INFLIGHT = 64
MOST_PENDING = 512
"""More messages that wait for the broker are logged: it does not keep up."""


class Broker(NamedTuple):
    """Where the broker is, and who signs in; `ca` is the certificate that its own is signed with, None without TLS."""

    host: str
    port: int
    user: str
    password: str | None = None
    ca: Path | None = None


class Will(NamedTuple):
    """What the broker publishes, retained, when the connection is lost."""

    topic: str
    message: Message


def password_in(path: Path) -> str:
    """Return the password in the file `path`. Raises `SettingsError`."""
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"the password in {path} cannot be read: {error}", "copy the file that 'moccasin-mat hub setup' made"
        ) from error


def readable_ca(path: str) -> Path | None:
    """Return the certificate's file, None for "". Raises `SettingsError` where it is none."""
    if not path:
        return None
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:
        raise SettingsError(
            f"the certificate {path} cannot be read: {error}", "copy the file that 'moccasin-mat hub setup' made"
        ) from error
    return Path(path)


async def publish(client: aiomqtt.Client, topic: str, message: Message, *, retain: bool = False) -> None:
    """Send `message`; returns when the broker has it. Raises `aiomqtt.MqttError`, `MessageError`."""
    await client.publish(topic, encode(message), QOS, retain)


async def stay_connected(
    broker: Broker, will: Will, session: Callable[[aiomqtt.Client], Awaitable[None]], closing: asyncio.Event
) -> None:
    """Run `session` on a connection to `broker`, and on another when it is lost, until one ends by itself or `closing`.

    What keeps it from connecting is logged, once.
    """
    wait, known = AGAIN_S, ""
    while not closing.is_set():
        trouble: Exception | None = None
        try:
            async with connection(broker, will) as client:
                if known:
                    log.info("the broker at %s is there again", broker.host)
                wait, known = AGAIN_S, ""
                await session(client)
                return
        except* (aiomqtt.MqttError, OSError) as group:
            trouble = _first(group)
        if str(trouble) != known:
            known = str(trouble)
            log.warning("no connection to the broker at %s port %d: %s", broker.host, broker.port, known)
        try:
            async with asyncio.timeout(wait):
                await closing.wait()
        except TimeoutError:
            wait = min(2 * wait, MOST_S)


def connection(broker: Broker, will: Will) -> aiomqtt.Client:
    """Return a connection to `broker`, which is made when it is entered."""
    newest = broker.password is not None
    client = aiomqtt.Client(
        broker.host,
        broker.port,
        identifier=broker.user,
        username=broker.user if newest else None,
        password=broker.password,
        protocol=aiomqtt.ProtocolVersion.V5 if newest else aiomqtt.ProtocolVersion.V311,
        clean_session=None if newest else True,
        will=aiomqtt.Will(will.topic, encode(will.message), QOS, retain=True),
        keepalive=KEEPALIVE_S,
        timeout=TIMEOUT_S,
        tls_context=ssl.create_default_context(cafile=str(broker.ca)) if broker.ca else None,
        max_inflight_messages=INFLIGHT,
        logger=log.getChild("client"),
    )
    client.pending_calls_threshold = MOST_PENDING  # a full hall is answered at once: that is no warning
    return client


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
