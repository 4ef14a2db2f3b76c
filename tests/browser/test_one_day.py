"""A day of a tournament, from three new cards to the champion, without a command: in a browser, as on phones."""

import pytest
from tournament_day import TEAMS, Day

MAX_TOUCHES, MAX_TYPED, MAX_PAGES = 78, 19, 6
"""What three new cards take to the first calls, 48 touches of them for six sign-ins. A longer way is a fault."""
MAX_TOUCHES_A_DAY = 115
"""To the champion, with a table that dies, a team that does not come, and a wrong result."""


@pytest.mark.timeout(300)
def test_three_cards_become_a_tournament_with_a_champion(tmp_path, chromium):
    day = Day(tmp_path, chromium)
    try:
        day.begin()
        assert {call.table for call in day.now.calls.values()} == {"t01", "t02", "t03"}
        playing = {team for table in day.tables.values() for team in table.table.view.teams.values()}
        assert len(playing) == 6
        assert playing < set(TEAMS)
        touches, typed, pages = day.counts
        print(f"touches {touches}, typed fields {typed}, pages {pages}")
        assert touches <= MAX_TOUCHES
        assert typed <= MAX_TYPED
        assert pages <= MAX_PAGES
        day.play()
        assert day.counts[0] <= MAX_TOUCHES_A_DAY
        print(f"touches {day.counts[0]}, minutes {day.minutes:.0f}")
    finally:
        day.close()
