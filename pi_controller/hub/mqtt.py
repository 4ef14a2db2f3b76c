"""MQTT for tables and hub: a connection that is restored automatically, MQTT 5 if accounts are used.

Without an account it is MQTT 3.1.1, the only version that the embedded broker supports.
"""

import asyncio
import logging
import ssl
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import aiomqtt

from pi_controller.config.model import HubSection
from pi_controller.errors import SettingsError, describe_error
from pi_controller.host.platform import run_async
from pi_controller.hub.messages import Message, encode

Session = Callable[[aiomqtt.Client, asyncio.Queue[aiomqtt.Message]], Coroutine[Any, Any, None]]

# Retry with exponential backoff; log each distinct failure once.


log = logging.getLogger(__name__)
RETRY_S, MAX_RETRY_S = 0.25, 2.0
"""The first delay; it doubles after each failure up to the maximum."""


class Retry:
    """Attempts to reach `name`, until `closing` is set."""

    def __init__(self, name: str, closing: asyncio.Event) -> None:
        self._name = name
        self._closing = closing
        self._wait, self._known = RETRY_S, ""

    def reset(self) -> None:
        """Reset the delay after a success."""
        if self._known:
            log.info("%s is available again", self._name)
        self._wait, self._known = RETRY_S, ""

    async def wait_after_failure(self, why: str) -> None:
        """Log a new reason and wait for the next attempt, or until `closing` is set."""
        if why != self._known:
            self._known = why
            log.warning("no connection to %s: %s; will retry", self._name, why)
        try:
            async with asyncio.timeout(self._wait):
                await self._closing.wait()
        except TimeoutError:
            self._wait = min(2 * self._wait, MAX_RETRY_S)


QOS = 1
KEEPALIVE_S = 10
"""The broker publishes the last will after 1.5 times this without a message."""
TIMEOUT_S = 10.0
CANCEL_AGAIN_S = 0.1
INFLIGHT = 64
MAX_PENDING_CALLS = 512
"""With more messages waiting for the broker a warning is logged: it is too slow."""


class Broker(NamedTuple):
    """The broker's address and the account there; `ca` is its CA certificate, None without TLS."""

    host: str
    port: int
    user: str
    password: str | None = None
    ca: Path | None = None


class Will(NamedTuple):
    """The retained message that the broker publishes if the connection is lost."""

    topic: str
    message: Message


def read_password(path: Path) -> str:
    """Read a password from the file `path`. Raises `SettingsError`."""
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"the password in {path} cannot be read: {describe_error(error)}",
            "copy the file that 'moccasin-mat hub setup' made",
        ) from error


def check_ca_file(path: str) -> Path | None:
    """Check a CA certificate and return its path, None for "". Raises `SettingsError` if it cannot be read."""
    if not path:
        return None
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:
        raise SettingsError(
            f"the certificate {path} cannot be read: {describe_error(error)}",
            "copy the file that 'moccasin-mat hub setup' made",
        ) from error
    return Path(path)


def account_broker(hub: HubSection) -> Broker:
    """Return the broker and the account in the section [hub]. Raises `SettingsError` if its files cannot be read."""
    password = read_password(Path(hub.password_file)) if hub.password_file else None
    return Broker(hub.address, hub.port, hub.table, password, check_ca_file(hub.ca))


async def publish(client: aiomqtt.Client, topic: str, message: Message, *, retain: bool = False) -> None:
    """Send `message` and wait until the broker has it. Raises `aiomqtt.MqttError`, `MessageError`."""
    await client.publish(topic, encode(message), QOS, retain)


async def stay_connected(broker: Broker, will: Will, session: Session, closing: asyncio.Event) -> None:
    """Run `session` on a connection to `broker`, and again after a lost connection, until it ends or `closing` is set.

    Received messages are put into the session's queue. If the connection is lost the session is cancelled at once, even
    while it waits for the broker's acknowledgement. A connection error is logged once.
    """
    retry = Retry(f"the broker at {broker.host} port {broker.port}", closing)
    while not closing.is_set():
        trouble: Exception | None = None
        try:
            async with make_client(broker, will) as client:
                retry.reset()
                messages: asyncio.Queue[aiomqtt.Message] = asyncio.Queue()
                await until_one_ends(session(client, messages), _collect(client, messages))
                return
        except* (aiomqtt.MqttError, OSError) as group:
            trouble = _first(group)
        await retry.wait_after_failure(str(trouble))


CLOSING_S = 3.0
"""How long a program waits for the broker when it stops."""


class BackgroundLink(ABC):
    """A connection to `broker` in a thread of its own, restored automatically; its owner never waits for it.

    A subclass calls `wake` when `_session` has something to send.
    """

    def __init__(self, broker: Broker, will: Will) -> None:
        self._broker, self._will = broker, will
        self._stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._work, name="hub", daemon=True)

    @abstractmethod
    async def _session(self, client: aiomqtt.Client, inbound: asyncio.Queue[aiomqtt.Message]) -> None:
        """Send and receive on a new connection until `_closing` is set."""

    def start(self) -> None:
        """Start the thread, which does `run`."""
        self._thread.start()

    async def run(self) -> None:
        """Stay connected until `close`."""
        self._news, self._closing = asyncio.Event(), asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._woken()
        await stay_connected(self._broker, self._will, self._session, self._closing)

    def close(self) -> None:
        """Send the remaining messages and disconnect; do not wait for a broker that does not answer."""
        self._stopping = True
        self.wake()
        if self._thread.is_alive():
            self._thread.join(CLOSING_S)

    def wake(self) -> None:
        """Set `_news` in the thread's loop, and `_closing` if the link is being closed."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._woken)

    def _woken(self) -> None:
        self._news.set()
        if self._stopping:
            self._closing.set()

    def _work(self) -> None:
        try:
            run_async(self.run())
        except Exception:
            log.exception("the connection to the hub has failed permanently; the game continues")


async def _collect(client: aiomqtt.Client, messages: asyncio.Queue[aiomqtt.Message]) -> None:
    async for message in client.messages:
        messages.put_nowait(message)


async def until_one_ends(*works: Coroutine[Any, Any, object]) -> None:
    """Run `works` together until one of them ends, then cancel the others. Raises their errors as a group.

    The cancellation is repeated until it works: `asyncio.wait_for` of Python 3.11, which aiomqtt uses, loses it if the
    broker's acknowledgement arrives in the same turn of the loop.
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


def make_client(broker: Broker, will: Will | None = None, name: str = "") -> aiomqtt.Client:
    """Return a client for `broker` that connects when entered as a context, as `name` or by its account's name."""
    newest = broker.password is not None
    client = aiomqtt.Client(
        broker.host,
        broker.port,
        identifier=name or broker.user,
        username=broker.user if newest else None,
        password=broker.password,
        protocol=aiomqtt.ProtocolVersion.V5 if newest else aiomqtt.ProtocolVersion.V311,
        clean_session=None if newest else True,
        will=aiomqtt.Will(will.topic, encode(will.message), QOS, retain=True) if will else None,
        keepalive=KEEPALIVE_S,
        timeout=TIMEOUT_S,
        tls_context=ssl.create_default_context(cafile=str(broker.ca)) if broker.ca else None,
        max_inflight_messages=INFLIGHT,
        logger=log.getChild("client"),
    )
    # many tables are answered at once: that is no reason for a warning
    client.pending_calls_threshold = MAX_PENDING_CALLS
    return client


async def can_sign_in(broker: Broker) -> bool:
    """Return whether the broker accepts this account; publishes no message."""
    try:
        async with make_client(broker, name=f"{broker.user}-joins"):
            return True
    except (aiomqtt.MqttError, OSError):
        return False


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
