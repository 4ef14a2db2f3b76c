"""Home Assistant's MQTT discovery: the entities of each table. No game data, no commands.

See https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery; the values come from the table's own `state` and
`health` messages.
"""

from typing import Any, NamedTuple

import msgspec

from pi_controller import __version__
from pi_controller.hub.messages import MessageError, parse_topic, topic

PREFIX = "homeassistant"
"""Home Assistant's default discovery prefix."""
ACCOUNT = "home"
"""Home Assistant's account at the broker."""


class _Entity(NamedTuple):
    component: str
    key: str
    name: str
    kind: str
    value: str
    more: dict[str, str]


_ENTITIES = (
    _Entity(
        "binary_sensor",
        "connected",
        "Connected",
        "state",
        "{{ 'ON' if value_json.state == 'ready' else 'OFF' }}",
        {"device_class": "connectivity"},
    ),
    _Entity(
        "binary_sensor",
        "supply",
        "Power supply too weak",
        "health",
        "{{ 'ON' if value_json.machine.under_voltage | default(false) else 'OFF' }}",
        {"device_class": "problem"},
    ),
    _Entity(
        "sensor",
        "temperature",
        "Temperature",
        "health",
        "{{ value_json.machine.temperature_c | default(none) }}",
        {"device_class": "temperature", "unit_of_measurement": "°C"},
    ),
    _Entity(
        "sensor",
        "free",
        "Free disk",
        "health",
        "{{ value_json.machine.free_bytes | default(none) }}",
        {"device_class": "data_size", "unit_of_measurement": "B"},
    ),
)


CONFIG_TOPICS = f"{PREFIX}/+/+/+/config"
"""The topics of `discovery`, and of other programs' discovery messages."""
_ORIGIN = "Moccasin Mat"


class _Origin(msgspec.Struct):
    name: str = ""


class _Announced(msgspec.Struct):
    state_topic: str = ""
    origin: _Origin = msgspec.field(default_factory=_Origin)


def announced_table(venue: str, payload: bytes) -> str | None:
    """Return the table of `venue` that a discovery message announces; None if it is not one of ours."""
    try:
        found = msgspec.json.decode(payload, type=_Announced)
        where = parse_topic(found.state_topic)
    except (msgspec.MsgspecError, UnicodeDecodeError, MessageError):
        return None
    return where.table if found.origin.name == _ORIGIN and where.venue == venue and where.table else None


def discovery(venue: str, table: str, name: str) -> dict[str, bytes]:
    """Return the retained discovery messages of a table with the display name `name`: {topic: JSON}."""
    node = f"moccasin_mat_{venue}_{table}"
    found: dict[str, bytes] = {}
    for entity in _ENTITIES:
        payload: dict[str, Any] = {
            "name": entity.name,
            "unique_id": f"{node}_{entity.key}",
            "state_topic": topic(venue, table, entity.kind),
            "value_template": entity.value,
            "entity_category": "diagnostic",
            "device": {"identifiers": [node], "name": name or table},
            "origin": {"name": _ORIGIN, "sw_version": __version__},
            **entity.more,
        }
        found[f"{PREFIX}/{entity.component}/{node}/{entity.key}/config"] = msgspec.json.encode(payload)
    return found
