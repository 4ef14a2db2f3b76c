"""Reads a record leniently: any bytes give a record of the readable parts and a list of problems.

An invalid action, or one that the rules do not allow at its place, is left out and listed; reading continues.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any, Generic, cast
from unicodedata import normalize

from pi_controller.errors import UsageError
from pi_controller.record import model, notation, record_line
from pi_controller.record.model import Check, Entry, Move, ParseIssue, Record, RecordError
from pi_controller.record.notation import format_token, is_same_json
from pi_controller.rules import registry
from pi_controller.rules.base import Action, Game, IllegalActionError, InvalidActionError, Json, S
from pi_controller.rules.options import Value, names, resolve_options
from pi_controller.text import NAME_LENGTH, format_value, is_name_length

# Decodes a file's bytes to lines, for any origin: encodings, line ends, NULs, and noise.
#
# No function here raises. At most one line and a bounded list of faults are kept in memory.

MAX_BYTES = 32_000_000
MAX_LINES = 100_000
MAX_LINE_BYTES = 40_000
"""Maximum length of a line in UTF-8, bytes."""
MAX_ISSUES = 100


class ParseIssues:
    """A bounded list of faults: the first hundred, each with its line, and the number of the others."""

    def __init__(self) -> None:
        self._found: list[ParseIssue] = []
        self._more = 0
        self._last = 0

    def add(self, line: int, what: str) -> None:
        """Note a fault."""
        if len(self._found) < MAX_ISSUES:
            self._found.append(ParseIssue(line, what))
        else:
            self._more += 1
            self._last = line

    def by_line(self) -> list[ParseIssue]:
        """Return the faults in the order of their lines."""
        more = [ParseIssue(self._last, f"and {self._more} more faults, up to here")] if self._more else []
        return sorted(self._found, key=lambda fault: fault.line) + more


def decode_lines(data: bytes, faults: ParseIssues) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of every line that is not blank, stripped."""
    if len(data) > MAX_BYTES:
        faults.add(1, f"longer than {MAX_BYTES} bytes: the rest was not read")
        data = data[:MAX_BYTES]
    data = data.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    at, number = 0, 0
    while at < len(data):
        number += 1
        if number > MAX_LINES:
            faults.add(number, f"more than {MAX_LINES} lines: the rest was not read")
            return
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if end - at > MAX_LINE_BYTES:
            faults.add(number, f"longer than {MAX_LINE_BYTES} bytes: skipped")
        elif text := _decode_line(data[at:end], number, faults):
            yield number, text
        at = end + 1


def _decode_line(line: bytes, number: int, faults: ParseIssues) -> str:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        faults.add(number, "not UTF-8, skipped: save the file as UTF-8")
        return ""
    kept = notation.remove_controls(text)
    if kept != text:
        faults.add(number, "control characters or NULs: left out")
    return kept.strip()


# Plays the actions of a recorded game and counts the hide or turn that each belongs to.

SET = "set"
"""The word for a table set by the judge: `set` and the score sheet's keys. No game has this word."""
OUTSIDE_TURNS = ("forfeit", "start")
"""Words of actions outside hides and turns: a side that leaves the game, a horse of patol that starts."""
SIDES = ("hider", "hiding", "thrower")
"""Keys of the score sheet that name the side to hide or throw."""


class Playthrough(Generic[S]):
    """One game from its opening on.

    `sheet` is the current score sheet, `turn` the hide or turn last begun, from 1, and `open` whether it goes on.
    """

    def __init__(self, game: Game[S]) -> None:
        self.game = game
        self.state = game.opening()
        self.sheet = game.sheet(self.state)
        self.turn = 0
        self.open = False

    def play(self, action: Action) -> tuple[int | None, tuple[str, ...]]:
        """Play `action`; return the number of the hide or turn that it begins (or None), and the words called.

        Raises the game's errors; the playthrough is then unchanged.
        """
        if action.get("do") == SET:
            return self._set(action), ()
        before = self.sheet
        self.state, calls = self.game.play(self.state, action)
        self.sheet = self.game.sheet(self.state)
        side = next((before[key] for key in SIDES if key in before), None)
        if action["do"] in OUTSIDE_TURNS:
            self.open = self.open and self.sheet.get("thrower") == side
        if side is None or action["do"] in OUTSIDE_TURNS or action.get("hide") == "last":
            return None, calls
        number = None
        if not self.open:
            self.turn += 1
            number = self.turn
        if "owed" in before:
            self.open = self.sheet["owed"] == "second" or self.sheet == before
        else:  # a turn lasts until the bowl passes; a hide is one action, unless the action has no effect
            self.open = self.sheet.get("thrower") == side or (self.sheet == before and not calls)
        return number, calls

    def check_action(self, action: Action) -> None:
        """Check that `action` is an action of this game.

        Its legality at the time it was played is not checked, because that state is not known any more.
        """
        try:
            if action.get("do") == SET:
                self.game.restore(_sheet(action))
            else:
                self.game.play(self.state, action)
        except IllegalActionError:
            return

    def _set(self, action: Action) -> int | None:
        """Set the table; return the number of the hide if one begins by this, because its second hit is due.

        Any other hide or turn in progress is void.
        """
        self.state = self.game.restore(_sheet(action))
        self.sheet = self.game.sheet(self.state)
        before, self.open = self.open, self.sheet.get("owed") == "second"
        if before or not self.open:
            return None
        self.turn += 1
        return self.turn

    def differences(self, check: Check) -> str:
        """Return the differences between `check` and the score sheet in one line, or ""."""
        return "; ".join(filter(None, (self._differs(path, value) for path, value in check.values)))

    def end_line(self) -> str:
        """Return the last line of the record."""
        return f"end winner={format_token(self.sheet.get('winner'))}" if self.game.is_over(self.state) else "end"

    def _differs(self, path: str, stated: Json) -> str:
        try:
            value = self._at(path)
        except RecordError as error:
            return error.message
        return "" if is_same_json(value, stated) else f"{path} is {format_value(value)}, not {format_value(stated)}"

    def _at(self, path: str) -> Json:
        at: Any = self.sheet
        for part in path.split("."):
            if isinstance(at, dict) and part in at:
                at = cast("dict[str, Json]", at)[part]
            elif (
                isinstance(at, list)
                and part.isascii()
                and part.isdecimal()
                and int(part[:9]) < len(cast("list[Json]", at))
            ):
                at = cast("list[Json]", at)[int(part[:9])]
            else:
                raise RecordError(f"the score sheet has no {format_value(path)}")
        return at


def _sheet(action: Action) -> dict[str, Json]:
    return {key: value for key, value in action.items() if key != "do"}


FORMAT = "1"
MAX_HEADERS = 200


def read(data: bytes) -> Record:
    """Return the record in `data`, with all problems in `faults`. Never raises."""
    return _Reader(data).record()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._faults = ParseIssues()
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
        for number, text in decode_lines(self._data, self._faults):
            if ended:
                self._faults.add(number, "after the end: this and all further lines were not read")
                break
            if header := model.HEADER.match(text):
                self._header(number, header[1].rstrip(), notation.parse_text(text[header.end() :]))
                continue
            try:
                ended = self._entry(number, text)
            except RecordError as error:
                if self._is_game_known():
                    self._faults.add(number, f"{error.message}; {error.hint}" if error.hint else error.message)
                else:
                    self._unplayed.append(number)
        self._begin(number)
        if self._unplayed:
            self._faults.add(
                self._unplayed[0], f"{len(self._unplayed)} lines could not be read: no game is named above them"
            )
        if not ended and not (self._playthrough and self._playthrough.game.is_over(self._playthrough.state)):
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
            faults=self._faults.by_line(),
        )

    # ---- headers

    def _header(self, number: int, name: str, value: str) -> None:
        if len(value) > model.MAX_TEXT_CHARS:
            self._faults.add(number, f"longer than {model.MAX_TEXT_CHARS} characters: cut")
            value = value[: model.MAX_TEXT_CHARS]
        if not model.RESERVED.fullmatch(name):
            if len(self._headers) < MAX_HEADERS:
                self._headers.append((name, value))
            else:
                self._faults.add(number, f"more than {MAX_HEADERS} headers: left out")
            return
        known, _, which = name.lower().partition(" ")
        which = which.strip()
        if known == "team":
            known = f"team {which.upper()}"
            if not is_name_length(value):
                self._faults.add(number, f"a team's name has {NAME_LENGTH}: left out")
                return
        taken = self._stated if known == "option" else self._fields
        key = which if known == "option" else known
        if known == "record" and value != FORMAT:
            self._faults.add(number, f"this is format {format_value(value)}; read as format {FORMAT}")
        elif self._begun and known in ("game", "option"):
            self._faults.add(number, f"{name} comes after the first action: left out")
        elif key in taken:
            self._faults.add(number, f"{name} comes twice: the first one counts")
        elif known == "option":
            self._stated[key] = (number, value)
        elif value:
            self._fields[key] = value
            if known == "game":
                self._fields["game"] = value.lower() if value.lower() in registry.names() else value

    def _begin(self, number: int) -> None:
        """Set up the game named in the headers, once."""
        if self._begun:
            return
        self._begun = True
        name = self._fields.get("game", "")
        if name not in registry.names():
            what = f"there is no game {format_value(name)}" if name else "the record does not name its game"
            self._faults.add(number, f"{what}; write Game: and one of {', '.join(registry.names())}")
            for line, _ in self._stated.values():
                self._faults.add(line, "an option of a game that is not known: left out")
            return
        game = self._game(name, number)
        version = self._fields.get("version", "")
        if version not in ("", game.version):
            self._faults.add(
                number, f"written by {name} {format_value(version)}, read by the rules of {name} {game.version}"
            )
        self._playthrough = Playthrough(game)
        if "players" in game.settings:
            self._players = {normalize("NFC", player): player for player in names(game.settings["players"])}

    def _game(self, name: str, number: int) -> Game[Any]:
        for option, (line, text) in self._stated.items():
            try:
                self._options[option] = resolve_options(name, registry.game_class(name).options, {option: text})[option]
            except UsageError as error:
                self._faults.add(line, f"{error.message}: left out")
        try:
            return registry.game(name, self._options)
        except UsageError as error:
            self._faults.add(number, f"{error.message}: the options are left out")
            self._options = {}
            return registry.game(name)

    # ---- the body

    def _is_game_known(self) -> bool:
        return self._fields.get("game") in registry.names()

    def _entry(self, number: int, text: str) -> bool:
        """Read a line of the body; return True if it is the end. Raises `RecordError`."""
        line = record_line.parse(text, self._fields.get("game", ""))
        if isinstance(line.entry, Move):
            if self._is_game_known():
                self._begin(number)
                self._move(number, line)
            else:
                self._unplayed.append(number)
            return False
        if isinstance(line.entry, Check):
            if self._is_game_known():
                self._begin(number)
            if self._playthrough and (wrong := self._playthrough.differences(line.entry)):
                self._faults.add(number, wrong)
            if line.last:
                return True
        self._entries.append(line.entry)
        return False

    def _move(self, number: int, line: record_line.RecordLine) -> None:
        move = line.entry
        assert isinstance(move, Move)
        playthrough = self._playthrough
        assert playthrough
        action = {key: self._name(value) for key, value in move.action.items()}
        calls = move.calls
        try:
            if move.superseded:
                playthrough.check_action(action)
            else:
                _, calls = playthrough.play(action)
        except (InvalidActionError, IllegalActionError) as error:
            kind = "is no action" if isinstance(error, InvalidActionError) else "is not allowed here"
            raise RecordError(f"{format_value(str(action['do']))} {kind}: {error.message}") from error
        if not move.superseded:
            if move.calls and move.calls != calls:
                self._faults.add(number, f"the words called are {' '.join(calls) or 'none'}")
            if line.number is not None and line.number != playthrough.turn + self._shift:
                self._faults.add(number, f"this is number {playthrough.turn + self._shift}, not {line.number}")
                self._shift = line.number - playthrough.turn
        self._entries.append(Move(action, calls, move.t, move.by, move.comment, move.superseded))

    def _name(self, value: Json) -> Json:
        """Return a player's name in the game's spelling, for any Unicode normal form."""
        match value:
            case str():
                return self._players.get(normalize("NFC", value), value)
            case list():
                return [self._name(item) for item in cast("list[Json]", value)]
            case dict():
                return {key: self._name(item) for key, item in cast("dict[str, Json]", value).items()}
            case _:
                return value
