"""MQTT for both sides: a connection that comes back, MQTT 5 where there are accounts.

Without an account it is MQTT 3.1.1: the hub's own broker knows no other.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import aiomqtt

from pi_controller.errors import SettingsError
from pi_controller.fleet.messages import encode
from pi_controller.fleet.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from pi_controller.fleet.messages import Message

    Session = Callable[[aiomqtt.Client, asyncio.Queue[aiomqtt.Message]], Coroutine[Any, Any, None]]

log = logging.getLogger(__name__)
QOS = 1
KEEPALIVE_S = 10
"""A broker that hears nothing for half as long again publishes the last will."""
TIMEOUT_S = 10.0
CANCEL_AGAIN_S = 0.1
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


async def stay_connected(broker: Broker, will: Will, session: Session, closing: asyncio.Event) -> None:
    """Run `session` on a connection to `broker`, and on another when it is lost, until one ends by itself or `closing`.

    What comes is put into the session's queue. A session whose connection is lost is cancelled at once, also where it
    waits for the broker's word, which would come no more. What keeps it from connecting is logged, once.
    """
    retry = Retry(f"the broker at {broker.host} port {broker.port}", closing)
    while not closing.is_set():
        trouble: Exception | None = None
        try:
            async with connection(broker, will) as client:
                retry.reached()
                messages: asyncio.Queue[aiomqtt.Message] = asyncio.Queue()
                await until_one_ends(session(client, messages), _collect(client, messages))
                return
        except* (aiomqtt.MqttError, OSError) as group:
            trouble = _first(group)
        await retry.failed(str(trouble))


async def _collect(client: aiomqtt.Client, messages: asyncio.Queue[aiomqtt.Message]) -> None:
    async for message in client.messages:
        messages.put_nowait(message)


async def until_one_ends(*works: Coroutine[Any, Any, None]) -> None:
    """Run `works` together until one of them ends, then end the others. Raises what any of them has raised, as a group.

    A cancellation is repeated until it is obeyed: `asyncio.wait_for` of Python 3.11, by which aiomqtt waits for the
    broker's word, drops it when that word comes in the same turn of the loop.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        while pending := [task for task in tasks if not task.done()]:
            for task in pending:
                task.cancel()
            await asyncio.wait(pending, timeout=CANCEL_AGAIN_S)
    errors = [error for task in tasks if not task.cancelled() and (error := task.exception()) is not None]
    if errors:
        raise BaseExceptionGroup("the connection has ended", errors)


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


async def signs_in(broker: Broker) -> bool:
    """Return whether the broker lets this account in; nothing is said there."""
    client = aiomqtt.Client(
        broker.host,
        broker.port,
        identifier=f"{broker.user}-joins",
        username=broker.user,
        password=broker.password,
        protocol=aiomqtt.ProtocolVersion.V5,
        tls_context=ssl.create_default_context(cafile=str(broker.ca)) if broker.ca else None,
        timeout=TIMEOUT_S,
        logger=log.getChild("client"),
    )
    try:
        async with client:
            return True
    except (aiomqtt.MqttError, OSError):
        return False


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
