"""Shared by all tests: hypothesis without deadlines, for cores here are slow and shared; and views made by hand."""

from typing import Any

import pytest
from hypothesis import settings

from pi_controller.table.view import View

settings.register_profile("mat", deadline=None)
settings.load_profile("mat")


def make_view(**changed: Any) -> View:
    told: dict[str, Any] = {
        "seq": 1,
        "game": "dakota",
        "version": "1",
        "teams": {"A": "Big Coulee", "B": "Long Hollow"},
        "phase": "hit",
        "hide": 3,
        "hider": "A",
        "long": {"A": 8, "B": 4},
        "middle": 8,
        "short": {"A": 1, "B": 2},
        "points": 5,
        "owed": "first",
        "situation": None,
        "winner": None,
        "link": True,
    }
    return View(**(told | changed))


@pytest.fixture(scope="session")
def view() -> Any:
    """Return a maker of views: `view(phase="over", winner="A")`."""
    return make_view
