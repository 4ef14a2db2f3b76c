"""Sign-in: a name and a PIN in, a session out, or a wait. One PIN is hashed at a time, in a thread of its own.

Always the same thread: each one that has hashed keeps those 19 MiB for its next.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.errors import MatError
from pi_controller.web.signing.pins import is_pin
from pi_controller.web.signing.throttle import Rate, Throttle, keys
from pi_controller.web.signing.users import folded

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.web.signing.pins import Pins
    from pi_controller.web.signing.sessions import Session, Sessions
    from pi_controller.web.signing.users import User, Users

log = logging.getLogger(__name__)

HASHES_A_SECOND, BURST = 2.0, 10.0
"""Of all places together that are no known device, where at most a few PINs were wrong and that wait as told."""
OTHERS_A_SECOND, OTHERS_BURST = 0.5, 5.0
"""Of the other places."""


class PinError(MatError, PermissionError):
    """The name and the PIN do not go together, or it is too early to try again (`wait_s`)."""

    code = "pin"

    def __init__(self, what: str, todo: str, wait_s: float) -> None:
        super().__init__(what, todo)
        self.wait_s = math.ceil(wait_s)


class BusyError(PinError):
    """Too many sign in at this moment."""

    code = "often"


class SignedIn(NamedTuple):
    """A successful sign-in: user, session cookie, and device cookie, which spares the browser strangers' waits."""

    person: User
    session: str
    device: str


class Authenticator:
    """Signs people in. `clock` gives the seconds of the table's clock."""

    def __init__(self, users: Users, sessions: Sessions, pins: Pins, clock: Callable[[], float]) -> None:
        self.users, self.sessions, self.pins, self.clock = users, sessions, pins, clock
        self._throttle = Throttle()
        self._rate, self._others = Rate(HASHES_A_SECOND, BURST), Rate(OTHERS_A_SECOND, OTHERS_BURST)
        self._one = ThreadPoolExecutor(1, "pins")

    async def sign_in(self, name: str, pin: str, address: str, device: str | None) -> SignedIn:
        """Sign in from `address`, with a browser whose cookie is `device`. Raises `PinError`, or `UserError`.

        The answer to a wrong name is the one to a wrong PIN, and takes as long.
        """
        found = await asyncio.to_thread(self.users.named, name)
        person, kept = found or (None, None)
        known = bool(device and person and await asyncio.to_thread(self.users.knows, person.id, device))
        under = keys(folded(name), address, device if known else None)
        who = person.name if person else "an unknown name"  # what was typed may be a PIN in the wrong place
        now = self.clock()
        if (wait := self._throttle.wait(under, now)) > 0:
            log.warning("sign-in refused for %s from %s: too early", who, address)
            raise PinError("too many wrong PINs from here", _wait(wait), wait)
        rate = self._rate if self._throttle.clean(under, now) else self._others
        if not known and (wait := rate.take(now)) > 0:
            self._throttle.turned_away(under, now, wait)
            log.warning("sign-in refused for %s from %s: too many at once", who, address)
            raise BusyError("too many sign in at this moment", _wait(wait), wait)
        self._throttle.charge(under, now)
        if not (is_pin(pin) and await self._right(kept, pin)) or person is None:
            log.warning("sign-in refused for %s from %s: wrong PIN", who, address)
            wait = self._throttle.wait(under, self.clock())
            raise PinError("this name and this PIN do not go together", _wait(wait), wait)
        self._throttle.right(under)
        device = device if known and device else secrets.token_urlsafe(32)
        await asyncio.to_thread(self.users.know, person.id, device, now)
        session = await asyncio.to_thread(self.sessions.begin, person, self.clock())
        log.info("%s (%s) signed in from %s", person.name, person.role, address)
        return SignedIn(person, session, device)

    async def session(self, token: str, *, touch: bool) -> Session | None:
        """Return the session of the cookie, None where it has ended. With `touch` something was done just now."""
        return await asyncio.to_thread(self.sessions.of, token, self.clock(), touch=touch)

    async def end(self, token: str) -> None:
        """End the session of the cookie."""
        await asyncio.to_thread(self.sessions.end, token)

    async def hash(self, pin: str) -> str:
        """Return the hash of a new PIN."""
        return await asyncio.get_running_loop().run_in_executor(self._one, self.pins.hash, pin)

    async def _right(self, kept: str | None, pin: str) -> bool:
        return await asyncio.get_running_loop().run_in_executor(self._one, self.pins.right, kept, pin)


def _wait(seconds: float) -> str:
    whole = math.ceil(seconds)
    return f"wait {whole} s, then try again" if whole else "try again"
