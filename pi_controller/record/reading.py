"""Reads a record, forgivingly: whatever the bytes are, out comes what could be read and a list of what was wrong.

An action that is none, or that the rules do not allow where it stands, is left out and listed; the rest goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from unicodedata import normalize

from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.games.options import chosen, names
from pi_controller.games.wording import shown
from pi_controller.record.decoding import Faults, lines
from pi_controller.record.lines import Line, parse
from pi_controller.record.model import (
    HEADER,
    LONGEST_NAME,
    LONGEST_TEXT,
    RESERVED,
    Check,
    Entry,
    Move,
    Record,
    RecordError,
)
from pi_controller.record.playthrough import Playthrough
from pi_controller.record.values import take_text

if TYPE_CHECKING:
    from pi_controller.games.base import Game, Json
    from pi_controller.games.options import Value

FORMAT = "1"
MOST_HEADERS = 200


def read(data: bytes) -> Record:
    """Return the record that `data` holds, with all that was wrong in `faults`. Never raises, whatever `data` is."""
    return _Reader(data).record()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._faults = Faults()
        self._fields: dict[str, str] = {}
        self._stated: dict[str, tuple[int, str]] = {}
        self._options: dict[str, Value] = {}
        self._headers: list[tuple[str, str]] = []
        self._entries: list[Entry] = []
        self._playthrough: Playthrough[Any] | None = None
        self._players: dict[str, str] = {}
        self._begun = False
        self._unplayed: list[int] = []
        self._shift = 0

    def record(self) -> Record:
        number, ended = 0, False
        for number, text in lines(self._data, self._faults):
            if ended:
                self._faults.add(number, "stands behind the end: this and what follows was not read")
                break
            if header := HEADER.match(text):
                self._header(number, header[1].rstrip(), take_text(text[header.end() :]))
                continue
            try:
                ended = self._entry(number, text)
            except RecordError as error:
                if self._known():
                    self._faults.add(number, f"{error.what}; {error.todo}" if error.todo else error.what)
                else:
                    self._unplayed.append(number)
        self._begin(number)
        if self._unplayed:
            self._faults.add(
                self._unplayed[0], f"{len(self._unplayed)} lines could not be read: no game stands above them"
            )
        if not ended and not (self._playthrough and self._playthrough.game.over(self._playthrough.state)):
            self._faults.add(number, "there is no line 'end': the record may have been cut")
        fields = self._fields
        return Record(
            game=fields.get("game", ""),
            version=fields.get("version", ""),
            rules=fields.get("rules", ""),
            source=fields.get("source", ""),
            options=self._options,
            teams={team: fields[f"team {team}"] for team in ("A", "B") if f"team {team}" in fields},
            headers=tuple(self._headers),
            entries=tuple(self._entries),
            faults=self._faults.listed(),
        )

    # ---- headers

    def _header(self, number: int, name: str, value: str) -> None:
        if len(value) > LONGEST_TEXT:
            self._faults.add(number, f"longer than {LONGEST_TEXT} characters: cut")
            value = value[:LONGEST_TEXT]
        if not RESERVED.fullmatch(name):
            if len(self._headers) < MOST_HEADERS:
                self._headers.append((name, value))
            else:
                self._faults.add(number, f"more than {MOST_HEADERS} headers: left out")
            return
        known, _, which = name.lower().partition(" ")
        which = which.strip()
        if known == "team":
            known = f"team {which.upper()}"
            if not 1 <= len(value) <= LONGEST_NAME:
                self._faults.add(number, f"a team's name has 1 to {LONGEST_NAME} characters")
                value = value[:LONGEST_NAME]
        taken = self._stated if known == "option" else self._fields
        key = which if known == "option" else known
        if known == "record" and value != FORMAT:
            self._faults.add(number, f"this is format {shown(value)}; read as format {FORMAT}")
        elif self._begun and known in ("game", "option"):
            self._faults.add(number, f"{name} stands behind the first action: left out")
        elif key in taken:
            self._faults.add(number, f"{name} comes twice: the first one counts")
        elif known == "option":
            self._stated[key] = (number, value)
        elif value:
            self._fields[key] = value
            if known == "game":
                self._fields["game"] = value.lower() if value.lower() in registry.names() else value

    def _begin(self, number: int) -> None:
        """Lay out the game that the headers tell, once."""
        if self._begun:
            return
        self._begun = True
        name = self._fields.get("game", "")
        if name not in registry.names():
            what = f"there is no game {shown(name)}" if name else "the record does not say which game it is"
            self._faults.add(number, f"{what}; write Game: and one of {', '.join(registry.names())}")
            for line, _ in self._stated.values():
                self._faults.add(line, "an option of a game that is not known: left out")
            return
        game = self._game(name, number)
        version = self._fields.get("version", "")
        if version not in ("", game.version):
            self._faults.add(number, f"written by {name} {shown(version)}, read by the rules of {name} {game.version}")
        self._playthrough = Playthrough(game)
        if "players" in game.settings:
            self._players = {normalize("NFC", player): player for player in names(game.settings["players"])}

    def _game(self, name: str, number: int) -> Game[Any]:
        for option, (line, text) in self._stated.items():
            try:
                self._options[option] = chosen(name, registry.kind(name).options, {option: text})[option]
            except UsageError as error:
                self._faults.add(line, f"{error.what}: left out")
        try:
            return registry.game(name, self._options)
        except UsageError as error:
            self._faults.add(number, f"{error.what}: the options are left out")
            self._options = {}
            return registry.game(name)

    # ---- the body

    def _known(self) -> bool:
        """Return whether the headers so far name a game that there is."""
        return self._fields.get("game") in registry.names()

    def _entry(self, number: int, text: str) -> bool:
        """Take a line of the body; return whether it is the end. Raises `RecordError`."""
        line = parse(text, self._fields.get("game", ""))
        if isinstance(line.entry, Move):
            if self._known():
                self._begin(number)
                self._move(number, line)
            else:
                self._unplayed.append(number)
            return False
        if isinstance(line.entry, Check):
            if self._known():
                self._begin(number)
            if self._playthrough and (wrong := self._playthrough.wrong(line.entry)):
                self._faults.add(number, wrong)
            if line.last:
                return True
        self._entries.append(line.entry)
        return False

    def _move(self, number: int, line: Line) -> None:
        move = line.entry
        assert isinstance(move, Move)
        playthrough = self._playthrough
        assert playthrough
        action = {key: self._name(value) for key, value in move.action.items()}
        calls = move.calls
        try:
            if move.superseded:
                playthrough.once(action)
            else:
                _, calls = playthrough.play(action)
        except (InvalidActionError, IllegalActionError) as error:
            kind = "is no action" if isinstance(error, InvalidActionError) else "is not allowed here"
            raise RecordError(f"{shown(str(action['do']))} {kind}: {error.what}") from error
        if not move.superseded:
            if move.calls and move.calls != calls:
                self._faults.add(number, f"the words called are {' '.join(calls) or 'none'}")
            if line.number is not None and line.number != playthrough.turn + self._shift:
                self._faults.add(number, f"this is number {playthrough.turn + self._shift}, not {line.number}")
                self._shift = line.number - playthrough.turn
        self._entries.append(Move(action, calls, move.t, move.by, move.comment, move.superseded))

    def _name(self, value: Json) -> Json:
        """Return a player's name as the game has it, however its accents are spelt."""
        match value:
            case str():
                return self._players.get(normalize("NFC", value), value)
            case list():
                return [self._name(item) for item in cast("list[Json]", value)]
            case dict():
                return {key: self._name(item) for key, item in cast("dict[str, Json]", value).items()}
            case _:
                return value
