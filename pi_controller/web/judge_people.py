"""User management for the head judge: users and roles, new PINs (shown once), ending sessions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_controller.web.request_body import RefusedError, only, text_of
from pi_controller.web.signing.pins import new_pin
from pi_controller.web.signing.roles import ROLES

if TYPE_CHECKING:
    from pi_controller.web.api_types import People, PeopleChanged
    from pi_controller.web.signing.authenticator import Authenticator

LONGEST_NAME, LONGEST_PIN = 40, 64
"""Characters."""


async def everybody(authenticator: Authenticator) -> People:
    """Return all people with their sessions (times on the table's clock, s), and the roles there are."""
    users = await asyncio.to_thread(authenticator.users.everybody)
    sessions = await asyncio.to_thread(authenticator.sessions.of_all, authenticator.clock())
    return {
        "roles": ROLES,
        "people": [
            {
                "id": one.id,
                "name": one.name,
                "role": one.role,
                "sessions": [{"id": s.id, "began": s.began, "seen": s.seen} for s in sessions if s.person.id == one.id],
            }
            for one in users
        ],
    }


async def change(authenticator: Authenticator, body: dict[str, Any]) -> PeopleChanged:
    """Do what `body` says: `{"do": "add", "name", "role"}`, or `"new_pin"`, `"revoke"`, `"remove"` with an `"id"`.

    A new PIN is in the answer and nowhere else. Raises `RefusedError` or `UserError`.
    """
    match body.get("do"):
        case "add":
            only(body, "do", "name", "role")
            name, role = text_of(body, "name", LONGEST_NAME), text_of(body, "role", 20)
            pin = new_pin()
            person = await asyncio.to_thread(authenticator.users.add, name, role, await authenticator.hash(pin))
            return {"ok": True, "id": person.id, "name": person.name, "role": person.role, "pin": pin}
        case "new_pin":
            person_id, pin = await _somebody(authenticator, body), new_pin()
            await asyncio.to_thread(authenticator.users.give_pin, person_id, await authenticator.hash(pin))
            return {"ok": True, "id": person_id, "pin": pin}
        case "revoke":
            ended = await asyncio.to_thread(authenticator.sessions.revoke, await _somebody(authenticator, body))
            return {"ok": True, "ended": ended}
        case "remove":
            await asyncio.to_thread(authenticator.users.remove, await _somebody(authenticator, body))
            return {"ok": True}
        case _:
            raise RefusedError("invalid", "do must be add, new_pin, revoke or remove")


async def _somebody(authenticator: Authenticator, body: dict[str, Any]) -> int:
    only(body, "do", "id")
    users = await asyncio.to_thread(authenticator.users.everybody)
    found = next((one.id for one in users if type(body.get("id")) is int and one.id == body["id"]), None)
    if found is None:
        raise RefusedError("missing", "there is no such person", "look at the list again")
    return found
