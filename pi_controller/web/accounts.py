"""Sign-in: check a name and a PIN and begin a session. PINs are hashed one at a time in a thread.

It is always the same thread: each thread that hashes keeps its 19 MiB of memory.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from pi_controller.errors import MatError
from pi_controller.web.connection_limits import client_network
from pi_controller.web.pin_hash import PinHasher, is_pin
from pi_controller.web.sessions import Session, Sessions
from pi_controller.web.throttle import Throttle
from pi_controller.web.users import User, Users

log = logging.getLogger(__name__)


class PinError(MatError, PermissionError):
    """The name or the PIN is wrong; `wait_s` is how long until the next try, s."""

    code = "pin"

    def __init__(self, what: str, hint: str, /, wait_s: float, **values: object) -> None:
        super().__init__(what, hint, **values)
        self.wait_s = math.ceil(wait_s)


class BusyError(PinError):
    """It is too early to try again."""

    code = "often"


class SignedIn(NamedTuple):
    """A successful sign-in: user, session cookie, and device cookie, which exempts the browser from shared limits."""

    person: User
    session: str
    device: str


class Authenticator:
    """Signs people in. `clock` returns the seconds of the table's clock."""

    def __init__(self, users: Users, sessions: Sessions, pins: PinHasher, clock: Callable[[], float]) -> None:
        self.users, self.sessions, self.pins, self.clock = users, sessions, pins, clock
        self.throttle = Throttle()
        self._one = ThreadPoolExecutor(1, "pins")

    async def sign_in(self, name: str, pin: str, address: str, device: str | None) -> SignedIn:
        """Sign in from `address`, with a browser whose cookie is `device`. Raises `PinError`, or `UserError`."""
        person, known = await self._check_pin(name, pin, address, device)
        now = self.clock()
        device = device if known and device else secrets.token_urlsafe(32)
        await asyncio.to_thread(self.users.remember_device, person.id, device, now)
        session = await asyncio.to_thread(self.sessions.begin, person, now)
        log.info("%s (%s) signed in from %s", person.name, person.role, address)
        return SignedIn(person, session, device)

    async def _check_pin(self, name: str, pin: str, address: str, device: str | None) -> tuple[User, bool]:
        """Return the user of that name and PIN, and whether they use the browser `device`.

        A wrong name gets the same answer as a wrong PIN, after the same time. Raises `PinError` or `UserError`.
        """
        found = await asyncio.to_thread(self.users.find_by_name, name)
        person, kept = found or (None, None)
        known = bool(device and person and await asyncio.to_thread(self.users.has_device, person.id, device))
        # the names are on the sign-in page: all others share one back-off
        key = (person.id if person else 0, device if known else None)
        network = "" if known else client_network(address)
        # the typed name is not logged: it may be a PIN in the wrong field
        who = person.name if person else "an unknown name"
        if (wait := self.throttle.admit(key, network, self.clock())) > 0:
            log.warning("sign-in refused for %s from %s: too early", who, address)
            raise BusyError("there were too many tries", _wait(wait), wait)
        if not (is_pin(pin) and await self._right(kept, pin)) or person is None:
            log.warning("sign-in refused for %s from %s: wrong PIN", who, address)
            wait = self.throttle.wait(key, network, self.clock())
            raise PinError("the name or the PIN is wrong", _wait(wait), wait)
        self.throttle.record_success(key)
        return person, known

    async def session(self, token: str, *, touch: bool) -> Session | None:
        """Return the session of the cookie, None if it has ended. `touch` counts as activity."""
        return await asyncio.to_thread(self.sessions.find, token, self.clock(), touch=touch)

    async def end(self, token: str) -> None:
        """End the session of the cookie."""
        await asyncio.to_thread(self.sessions.end, token)

    async def hash(self, pin: str) -> str:
        """Return the hash of a new PIN."""
        return await asyncio.get_running_loop().run_in_executor(self._one, self.pins.hash, pin)

    async def _right(self, kept: str | None, pin: str) -> bool:
        return await asyncio.get_running_loop().run_in_executor(self._one, self.pins.verify, kept, pin)


def _wait(seconds: float) -> str:
    whole = math.ceil(seconds)
    return f"wait {whole} s, then try again" if whole else "try again"
