"""Names of the hall's tables for people: those that look the same also have their account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pi_controller.tournament.team_names import look_alike_key

if TYPE_CHECKING:
    from pi_controller.hub.hub import TableStatus


def name_tables(tables: Iterable[TableStatus]) -> dict[str, str]:
    """Return the name of each table by its account: its own, or the account without one.

    Two tables called "Table 1" are "Table 1 (t01)" and "Table 1 (t03)".
    """
    tables = list(tables)
    repeated = _repeated_keys(tables)
    return {
        one.table: f"{one.name} ({one.table})" if look_alike_key(one.name) in repeated else one.name or one.table
        for one in tables
    }


def same_names(tables: Iterable[TableStatus]) -> list[tuple[str, list[str]]]:
    """Return each name that several tables have, with their accounts."""
    tables = list(tables)
    found: dict[str, list[TableStatus]] = {key: [] for key in _repeated_keys(tables)}
    for one in tables:
        if (key := look_alike_key(one.name)) in found:
            found[key].append(one)
    return [(same[0].name, [one.table for one in same]) for same in found.values()]


def _repeated_keys(tables: list[TableStatus]) -> list[str]:
    count = Counter(look_alike_key(one.name) for one in tables if one.name)
    return [key for key, times in count.items() if times > 1]
