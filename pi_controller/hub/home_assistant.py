"""Home Assistant's MQTT discovery: the entities of each table. No game data, no commands.

See https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery; the values come from the table's own `state` and
`health` messages.
"""

import msgspec

from pi_controller import __version__
from pi_controller.hub.messages import MessageError, parse_topic, topic

PREFIX = "homeassistant"
"""Home Assistant's default discovery prefix."""
ACCOUNT = "home"
"""Home Assistant's account at the broker."""


_ENTITIES = {
    ("binary_sensor", "connected", "state"): {
        "name": "Connected",
        "value_template": "{{ 'ON' if value_json.state == 'ready' else 'OFF' }}",
        "device_class": "connectivity",
    },
    ("binary_sensor", "supply", "health"): {
        "name": "Power supply too weak",
        "value_template": "{{ 'ON' if value_json.machine.under_voltage | default(false) else 'OFF' }}",
        "device_class": "problem",
    },
    ("sensor", "temperature", "health"): {
        "name": "Temperature",
        "value_template": "{{ value_json.machine.temperature_c | default(none) }}",
        "device_class": "temperature",
        "unit_of_measurement": "°C",
    },
    ("sensor", "free", "health"): {
        "name": "Free disk",
        "value_template": "{{ value_json.machine.free_bytes | default(none) }}",
        "device_class": "data_size",
        "unit_of_measurement": "B",
    },
}
"""The entities of a table by component, key and kind of message: their own fields of the discovery message."""
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
    for (component, key, kind), fields in _ENTITIES.items():
        payload = {
            **fields,
            "unique_id": f"{node}_{key}",
            "state_topic": topic(venue, table, kind),
            "entity_category": "diagnostic",
            "device": {"identifiers": [node], "name": name or table},
            "origin": {"name": _ORIGIN, "sw_version": __version__},
        }
        found[f"{PREFIX}/{component}/{node}/{key}/config"] = msgspec.json.encode(payload)
    return found
