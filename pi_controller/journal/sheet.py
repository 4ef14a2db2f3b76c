"""Score sheet of a game in a journal: the entries of its record in order, with the sticks after each.

Undone lines stay on it, marked; the text of a protest is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pi_controller.errors import JournalError
from pi_controller.journal.convert import from_journal
from pi_controller.journal.journal import Journal
from pi_controller.record.model import Comment, Move, Record, RecordError, Ruling
from pi_controller.record.notation import format_action
from pi_controller.record.playthrough import SET, Playthrough
from pi_controller.record.writing import start_playthrough
from pi_controller.rules import registry
from pi_controller.rules.base import Game, Json
from pi_controller.rules.options import Value

Kind = Literal["action", "foul", "ruling", "note"]


_FIRST_DAY = 86_400.0 * 365
"""Games opened earlier have a simulated clock, whose date is meaningless."""


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One line: `t` seconds since the game was opened (negative: the clock was set back), `what` in words.

    `turn` is the number of its hide or turn (0 before the first), `side` the side whose turn it is. `state` is the
    score sheet after it, empty if it was undone or is no action.
    """

    t: float
    kind: Kind
    what: str
    calls: tuple[str, ...]
    by: str
    counts: bool
    turn: int
    side: str
    action: Mapping[str, Any]
    state: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The score sheet of a game. `head` is (number, hash) of the journal's last record, which proves the sheet."""

    game: str
    version: str
    source: str
    options: Mapping[str, Value]
    teams: Mapping[str, str]
    opened: float
    epoch: str
    head: tuple[int, str]
    lines: tuple[SheetLine, ...]
    state: Mapping[str, Json]
    over: bool

    @property
    def began(self) -> datetime | None:
        """When the game was opened, in local time; None for a simulated clock."""
        return datetime.fromtimestamp(self.opened).astimezone() if self.opened > _FIRST_DAY else None

    @property
    def rules(self) -> Game[Any]:
        """The game with its options."""
        return registry.game(self.game, self.options)


def sheet_of(journal: Journal) -> Sheet:
    """Build the sheet of the game in `journal`. Raises `JournalError` if it has no game or is damaged."""
    opened = journal.read_opening()
    if opened is None:
        raise JournalError(f"journal {journal.path.name} contains no game yet", "play first")
    try:
        record = from_journal(journal.read())
        playthrough = start_playthrough(record)
    except RecordError as error:
        raise JournalError(f"journal {journal.path.name}: {error.message}", error.hint) from error
    lines, game = tuple(_lines(record, playthrough)), playthrough.game
    return Sheet(
        game=game.name,
        version=opened.version,
        source=opened.source,
        options=game.chosen_settings,
        teams={} if "players" in game.settings else {str(team): name for team, name in record.teams.items()},
        opened=opened.t,
        epoch=journal.meta.epoch if journal.meta else "",
        head=journal.head,
        lines=lines,
        state=playthrough.sheet,
        over=game.is_over(playthrough.state),
    )


def _lines(record: Record, playthrough: Playthrough[Any]) -> Iterator[SheetLine]:
    """Yield the line of each entry of `record`, which is played from its opening on."""
    t, turn, side = 0.0, 0, ""
    for entry in record.entries:
        match entry:
            case Move(action=action, calls=calls, superseded=superseded):
                mover, begins = playthrough.side, playthrough.side is not None and not playthrough.open
                if not superseded:
                    begins = playthrough.play(action)[0] is not None
                turn = playthrough.turn + (superseded and begins)
                side = (mover or "") if begins else side
                t = -1.0 if entry.t is None else entry.t
                state: Mapping[str, Json] = {} if superseded else playthrough.sheet
                if action["do"] == SET:
                    yield SheetLine(t, "ruling", entry.comment, (), entry.by, not superseded, turn, side, {}, state)
                    continue
                kind: Kind = "foul" if action["do"] == "foul" else "action"
                what, by = format_action(record.game, action), entry.comment or entry.by
                yield SheetLine(t, kind, what, calls, by, not superseded, turn, side, action, state)
            case Ruling(text=text, superseded=superseded):
                t = -1.0 if entry.t is None else entry.t
                yield SheetLine(t, "ruling", text, (), "", not superseded, turn, side, {}, {})
            case Comment(text=text):
                yield SheetLine(t, "note", text, (), "", True, turn, side, {}, {})
            case _:
                pass
