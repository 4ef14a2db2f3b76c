"""Reads a record leniently: any bytes give a record of the readable parts and a list of problems.

An invalid action, or one that the rules do not allow at its place, is left out and listed; reading continues.
"""

from __future__ import annotations

from typing import Any, cast
from unicodedata import normalize

from pi_controller.errors import UsageError
from pi_controller.record import model, record_line, tokens
from pi_controller.record.lines import ParseIssues, decode_lines
from pi_controller.record.model import Check, Entry, Move, Record, RecordError
from pi_controller.record.playthrough import Playthrough
from pi_controller.rules import registry
from pi_controller.rules.base import Game, IllegalActionError, InvalidActionError, Json
from pi_controller.rules.options import Value, names, resolve_options
from pi_controller.text import NAME_LENGTH, format_value, is_name_length

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
                self._header(number, header[1].rstrip(), tokens.parse_text(text[header.end() :]))
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
