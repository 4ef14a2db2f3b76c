"""The short human form of actions, read and written by the forms that each game defines (`Game.forms`).

`hit missed 2` is `hit found=false pad=2`. An action that does not fit its form, or has none, is written with keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import NoReturn, cast

from pi_controller.record.model import Check, Comment, Entry, Move, RecordError, Ruling
from pi_controller.referee import facts
from pi_controller.rules import registry
from pi_controller.rules.base import Action, Forms, Json, Place
from pi_controller.text import format_value, is_invisible, join_words, strip_controls

# Tokens of a line: numbers, true, false, null and words bare, everything else as JSON.
#
# `format_token` and `parse_token` are inverse functions, and so are `format_text` and `parse_text` for free text.

_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")
_CONSTANTS: dict[str, Json] = {"true": True, "false": False, "null": None}
_BARE = re.compile(r"[^\W\d][\w'-]*")
_KEY = re.compile(r"([^\W\d]\w*(?:\.\w+)*)=")
_TAG = re.compile(r"\[([^\W\d]\w*)\](?=[\s;]|$)")
_TOKEN = re.compile(r"[^\s;]+")
_SPACE = re.compile(r"\s*")
_CONTROL = re.compile(r"[\x00-\x08\n-\x1f\x7f-\x9f]")
_MAX_NUMBER_CHARS = 30
ARROW = "->"
MAX_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Token:
    """One item of a line: `key=value`, a bare word, a quoted value, or `[tag]`. `word` is the text of a bare word."""

    value: Json
    key: str = ""
    word: str = ""
    tag: str = ""


def scan(text: str) -> tuple[list[Token], str]:
    """Return the items of a line and the comment after its `;`. Raises `RecordError`."""
    tokens: list[Token] = []
    at = 0
    while True:
        at = _end(_SPACE, text, at)
        if at == len(text):
            return tokens, ""
        if text[at] == ";":
            return tokens, parse_text(text[at + 1 :])
        if tag := _TAG.match(text, at):
            tokens.append(Token(None, tag=tag[1]))
            at = tag.end()
            continue
        key = ""
        if named := _KEY.match(text, at):
            key, at = named[1], named.end()
        if len(tokens) == MAX_TOKENS:
            raise RecordError(f"more than {MAX_TOKENS} words in one line")
        word = ""
        if text[at : at + 1] in ('"', "[", "{"):
            value, at = _json(text, at)
        else:
            found = _TOKEN.match(text, at)
            if not found:
                raise RecordError(f"{key}= has no value")
            word, at = found[0], found.end()
            value = parse_token(word)
        tokens.append(Token(value, key, word))


def parse_token(word: str) -> Json:
    """Return the value of a bare word."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if not _NUMBER.fullmatch(word):
        return word
    number = json.loads(_plain(word))
    return number if isfinite(number) else word


def format_token(value: Json) -> str:
    """Return the text that is read as `value`."""
    if isinstance(value, str) and _BARE.fullmatch(value) and value not in _CONSTANTS:
        return value
    return to_json(value)


def to_json(value: Json) -> str:
    """Return `value` as JSON, in plain Unicode except for invisible characters."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # JSON does not escape controls from 7f on, nor characters that change the text direction
    return "".join(json.dumps(char)[1:-1] if is_invisible(char) else char for char in text)


def parse_text(raw: str) -> str:
    """Parse a free text: stripped, and unquoted if it is quoted."""
    text = raw.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            value = _DECODER.decode(text)
        except ValueError:
            return text
        if isinstance(value, str):
            return value
    return text


def format_text(text: str, *, quote: bool = False) -> str:
    """Return the text that `parse_text` reads as `text`, quoted only if necessary."""
    if not quote and not any(map(is_invisible, text)) and parse_text(text) == text:
        return text
    return to_json(text)


def remove_controls(line: str) -> str:
    """Return `line` without its control characters; tabs are kept."""
    return _CONTROL.sub("", line)


def is_same_json(a: Json, b: Json) -> bool:
    """Return True if two values are equal as JSON, in which true, 1 and 1.0 differ."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def decode_object(text: str) -> dict[str, Json]:
    """Return the JSON object in `text`. Raises `RecordError`."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {format_value(text)}") from error
    if not isinstance(value, dict):
        raise RecordError(f"an action is an object, not {format_value(value)}")
    return cast("dict[str, Json]", value)


def _json(text: str, at: int) -> tuple[Json, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{format_value(text[at : at + 60])} is not a value") from error
    if end < len(text) and not text[end].isspace() and text[end] != ";":
        raise RecordError(f"{format_value(text[end : end + 60])}: expected a space before it")
    return value, end


def _plain(number: str) -> str:
    return re.sub(r"^(-?)0+(?=[0-9])", r"\1", number)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _whole(digits: str) -> int:
    if len(digits) > _MAX_NUMBER_CHARS:
        raise ValueError("a number that is too large")
    return int(digits)


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_whole)


def _read(place: Place, token: Token) -> Json:
    """Return the value of `token` in `place`. Raises `RecordError`."""
    for word in (token.word, token.word.lower()):
        if place.words and word and word in place.words:
            return place.words[word]
    if place.listing and token.word:
        return [parse_token(part) for part in token.word.split(",")]
    return token.value


def _write(place: Place, value: Json) -> str:
    for word, meant in (place.words or {}).items():
        if is_same_json(meant, value):
            return word
    if place.listing and isinstance(value, list) and value:
        return ",".join(map(format_token, cast("list[Json]", value)))
    return format_token(value)


def forms(game: str) -> Forms:
    """Return the forms of the game `game`, or {} if there is no such game."""
    return registry.game_class(game).forms if game in registry.names() else {}


def parse_action(game: str, tokens: Iterable[Token]) -> dict[str, Json]:
    """Return the action written as the items of a line, whose first item is its word. Raises `RecordError`."""
    items = iter(tokens)
    first = next(items, None)
    if first is None or not first.word or first.key:
        raise RecordError("there is no action in the line")
    do = first.word.lower()
    action: dict[str, Json] = {"do": do}
    places = list(forms(game).get(do, ()))
    for token in items:
        if token.tag:
            raise RecordError(f"[{token.tag}] must come after the action")
        if token.key:
            _set(action, token.key, token.value)
            continue
        ahead = next(
            (n for n, place in enumerate(places) if place.label and place.label.lower() == token.word.lower()), None
        )
        if ahead is not None:
            place = places[ahead]
            del places[: ahead + 1]
            value = next(items, None)
            if value is None or value.key or value.tag:
                raise RecordError(f"there is no value after {place.label}")
            _set(action, place.path, _read(place, value))
            continue
        while places and not places[0].label and places[0].closed and token.word.lower() not in (places[0].words or {}):
            del places[0]
        if not places or places[0].label:
            raise RecordError(
                f"{do} does not take {format_value(token.value)}", f"keys are written key=value: {join_words(action)}"
            )
        place = places.pop(0)
        _set(action, place.path, _read(place, token))
    return action


def format_action(game: str, action: Action) -> str:
    """Return the line for `action`: in its game's short form, with keys for all values that the form does not cover."""
    short = _with_form(game, action)
    try:
        if is_same_json(parse_action(game, scan(short)[0]), action):
            return short
    except RecordError:
        pass  # a name that looks like something else
    return " ".join(
        (format_token(action["do"]), *(_format_key(key, value) for key, value in action.items() if key != "do"))
    )


def _with_form(game: str, action: Action) -> str:
    parts = [str(action["do"])]
    left = _flat(action)
    left.pop("do")
    for place in forms(game).get(str(action["do"]), ()):
        if place.path not in left:
            if place.label or place.closed:
                continue
            break  # the next value would be read in its place
        if place.closed and not any(is_same_json(meant, left[place.path]) for meant in (place.words or {}).values()):
            continue
        text = _write(place, left.pop(place.path))
        parts += [place.label, text] if place.label else [text]
    return " ".join((*parts, *(_format_key(key, value) for key, value in left.items())))


def _format_key(key: str, value: Json) -> str:
    return (
        f"{key}={format_token(value)}"
        if isinstance(value, str | int | float | bool | None)
        else f"{key}={to_json(value)}"
    )


def _flat(action: Action) -> dict[str, Json]:
    """Return the action with nested objects flattened by one level: `red.woman`."""
    flat: dict[str, Json] = {}
    for key, value in action.items():
        if isinstance(value, Mapping) and value:
            inner = cast("Mapping[str, Json]", value)
            flat |= {f"{key}.{part}": held for part, held in inner.items()}
        else:
            flat[key] = value
    return flat


def _set(action: dict[str, Json], path: str, value: Json) -> None:
    *outer, key = path.split(".")
    if len(outer) > 1:
        raise RecordError(f"{format_value(path)} is nested too deeply")
    target = action
    for name in outer:
        inner: Json = target.setdefault(name, {})
        if not isinstance(inner, dict):
            raise RecordError(f"{path} does not fit {name}")
        target = cast("dict[str, Json]", inner)
    if key in target:
        raise RecordError(f"{path} comes twice")
    target[key] = value


# One line of a record's body, read and written.
#
# [NUMBER.] [~] [@TIME] WORD PART... [[WHO]] [-> CALL...] [; COMMENT]    an action; ~ marks one taken back [~] !
# [@TIME] TEXT                                                      a judge's ruling ; TEXT
# a comment = KEY=VALUE... [; COMMENT]                                              what the score sheet shows here end
# [KEY=VALUE...]                                                      the last line

_ENTRY_NUMBER = re.compile(r"([0-9]{1,6})\.\s*")
_TIME = re.compile(r"@([0-9]{1,9})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?(?:\.([0-9]{1,9}))?(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class Line:
    """A parsed line: the number it states, if any, its entry, and whether it is the record's last line."""

    entry: Entry
    number: int | None = None
    last: bool = False


def parse(text: str, game: str) -> Line:
    """Parse a line (stripped, not empty) of a record of `game`. Raises `RecordError`."""
    number = None
    superseded = False
    for _ in range(2):  # the mark and the number in either order
        if found := _ENTRY_NUMBER.match(text):
            number, text = int(found[1]), text[found.end() :]
        if text.startswith("~"):
            superseded, text = True, text[1:].lstrip()
    match text[:1]:
        case "":
            raise RecordError("the line is empty")
        case ";" | "#":
            return Line(Comment(parse_text(text[1:])))
        case "!":
            t, rest = _time(text[1:].lstrip())
            return Line(Ruling(parse_text(rest), t, superseded))
        case "=":
            check = _check(text[1:])
            if not check.values:
                raise RecordError("the line states no value", "write key=value")
            return Line(check)
        case _:
            pass
    if re.match(r"end(?=[\s;]|$)", text, re.IGNORECASE):
        return Line(_check(text[3:]), last=True)
    t, text = _time(text)
    tokens, comment = scan(text)
    tokens, calls = _calls(tokens)
    by = tokens.pop().tag if tokens and tokens[-1].tag else ""
    return Line(Move(parse_action(game, tokens), calls, t, by, comment, superseded), number)


def format_entry(entry: Entry, game: str, number: int | None = None, words: str = "") -> str:
    """Return the line for `entry` in a record of `game`; `number` is that of the hide or turn that an action begins.

    If `words` are given, an action is shown in these, for people; such a line cannot be read back.
    """
    match entry:
        case Comment(text=text):
            return f"   ; {format_text(text)}".rstrip()
        case Ruling(text=text, t=t, superseded=superseded):
            timelike = t is None and _TIME.match(text) is not None
            plain = format_text(text, quote=timelike)
            return " ".join(filter(None, ("  ~!" if superseded else "   !", _clock(t), plain)))
        case Check(values=values, comment=comment):
            parts = (f"{path}={format_token(value)}" for path, value in values)
            return " ".join(("   =", *parts, *_format_comment(comment)))
        case Move():
            lead = "   ~" if entry.superseded else f"{number}.".rjust(4) if number else "    "
            parts = [
                lead,
                _clock(entry.t),
                words or format_action(game, entry.action),
                f"[{entry.by}]" if entry.by else "",
            ]
            if entry.calls:
                called = ", ".join(map(format_words, entry.calls))
                parts += [ARROW, *((called,) if words else entry.calls)]
            return " ".join((*filter(None, parts), *_format_comment(entry.comment)))


def _format_comment(comment: str) -> Iterable[str]:
    return ("; " + format_text(comment),) if comment else ()


def _check(text: str) -> Check:
    tokens, comment = scan(text)
    values: list[tuple[str, Json]] = []
    for token in tokens:
        if not token.key:
            raise RecordError(f"{format_value(token.word or token.value)} is not a stated value", "write key=value")
        values.append((token.key, token.value))
    return Check(tuple(values), comment)


def _calls(tokens: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    at = next((n for n, token in enumerate(tokens) if token.word == ARROW and not token.key), len(tokens))
    for token in tokens[at + 1 :]:
        if not token.word or token.key:
            raise RecordError(f"{format_value(token.value)} is not a word that can be called")
    return tokens[:at], tuple(token.word for token in tokens[at + 1 :])


def _time(text: str) -> tuple[float | None, str]:
    found = _TIME.match(text)
    if not found:
        return None, text
    seconds = 0
    for part in filter(None, found.group(1, 2, 3)):
        seconds = seconds * 60 + int(part)
    return round(seconds + float(f"0.{found[4] or 0}"), 3), text[found.end() :]


def _clock(t: float | None) -> str:
    """Return a time as `@M:SS.mmm` or `@H:MM:SS.mmm`, without trailing zeros; "" for None."""
    if t is None:
        return ""
    seconds, ms = divmod(round(t * 1000), 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"@{clock}.{ms:03}".rstrip("0").rstrip(".") if ms else f"@{clock}"


# Texts of the judge's commands about the table, and the name of their author, for a record and a replay.

_RULINGS = {
    "upheld": "the protest is upheld",
    "denied": "the protest is denied",
    "play_on": "the protest is open still",
}
_CLOSED = {"forfeit": "gives up", "disqualified": "is disqualified", "no_show": "is not there when called"}


def format_words(name: str) -> str:
    """Return a name of the program, such as a foul's, in words."""
    return name.replace("_", " ")


def format_answer(asked: facts.Question | None, answer: facts.Answer) -> str:
    """Return an answer in words, with what the question `asked` was about if it is known."""
    about, details = format_words((asked or answer).about), ""
    if asked is not None:
        details = format_words(asked.foul) if asked.foul else ", ".join(f"pad {pad}" for pad in asked.pads)
    return (
        f"{about} ({details}): {format_words(answer.answer)}" if details else f"{about}: {format_words(answer.answer)}"
    )


def format_caller(called: facts.CommandIssued) -> str:
    """Return the name and role of the author: `Ann, judge`."""
    return ", ".join(filter(None, (called.actor, called.role)))


def format_table_fact(fact: facts.Fact, teams: Mapping[str, str], *, private: bool) -> str:
    """Return a fact about the table as a sentence, or "" for a fact of another kind.

    The text of a protest is for the judges only: it is left out unless `private`.
    """
    match fact:
        case facts.StateSet(reason=reason):
            sentence, why = "the table stands so", reason
        case facts.SensorsUsed(on=on, reason=reason):
            sentence, why = f"play goes on {'with' if on else 'without'} what the mat feels", reason
        case facts.ProtestMade(by=by, text=text):
            sentence, why = f"{_team(teams, by)} protests, play stands", text if private else ""
        case facts.ProtestRuled(ruling=ruling, reason=reason):
            sentence, why = f"{_RULINGS[ruling]}, play goes on", reason
        case facts.ClockSet(running=running, reason=reason):
            sentence, why = f"the clock {'runs on' if running else 'is stopped'}", reason
        case facts.GameClosed(by=by, cause=cause, reason=reason):
            sentence, why = f"{_team(teams, by) if by in ('A', 'B') else by} {_CLOSED[cause]}", reason
        case facts.TeamsNamed(teams=named):
            sentence, why = f"the teams are {_team(named, 'A')} and {_team(named, 'B')}", ""
        case facts.MatchGiven(match=match):
            sentence, why = f"match {strip_controls(match)} of a tournament", ""
        case facts.MatchVoid(why=reason):
            sentence, why = "the match no longer counts" if reason else "the match counts again", ""
        case facts.VoidClosed():
            sentence, why = "the game is closed: its match no longer counts", ""
        case facts.RoundClock(left_s=left, running=running):
            minutes, seconds = divmod(round(left), 60)
            sentence = f"the round's clock {'runs' if running else 'stands'}, {minutes}:{seconds:02} to go"
            why = ""
        case facts.JudgedByEye():
            sentence, why = "played by eye: the judge says what is found", ""
        case _:
            return ""
    return f"{sentence}: {why}" if why else sentence


def _team(teams: Mapping[str, str], team: str) -> str:
    name = teams.get(team, "")
    return f"{name} ({team})" if name not in ("", team) else f"team {team}"
