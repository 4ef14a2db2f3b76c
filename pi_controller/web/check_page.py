"""The page on which anyone checks an opened seal: the last opened stands in its fields, a script makes the hash."""

from __future__ import annotations

from dataclasses import asdict
from html import escape
from shlex import quote
from typing import TYPE_CHECKING, Any

from pi_controller.games.registry import DEFAULT, kind, names, playable
from pi_controller.referee.commitment import DOMAIN, Bound, head
from pi_controller.show.i18n import catalogue
from pi_controller.show.words import game_name
from pi_controller.web.page import document, fill

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.table.view import Opening, View

    Text = Callable[[str], str]


def sealed_games() -> tuple[str, ...]:
    """Return the games in which something is hidden, and sealed."""
    return tuple(name for name in names() if playable(name) and kind(name).hidden is not None)


def check_page(view: View | None, language: str = "en") -> str:
    """Return the page, with the last seal that `view` knows the opening of."""
    text = catalogue(language).gettext
    opened = view.opening if view is not None else None
    game = view.game if view is not None and view.game in sealed_games() else DEFAULT
    known = asdict(opened) if opened is not None else dict[str, Any]()
    if opened is not None and not opened.epoch:  # of an older journal, or none: it is bound to the game alone
        known |= {"table": "", "event": ""}
    texts = {
        "title": text("Check a seal"),
        "lead": text(
            "Before the hit the table shows a seal: the hash of the place and of a secret number, the nonce. After it "
            "the table opens the seal. Here your own device makes the hash again, to see whether it is the one that "
            "was shown."
        ),
        "prefilled": _which(view, text),
        "proves": text("What a match proves"),
        "not": text("What it does not prove"),
        "how": text("Without this page"),
        "how_text": text("The same on any computer, in a shell; the last line must be the seal:"),
        "back": text("Back to the game"),
    }
    pieces = {
        "fields": _fields(game, known, text, language),
        "verdicts": _verdicts(text),
        "witness": _witness(text),
        "proves_list": _list(
            text("The table fixed the place when the seal was shown, and did not change its mind after the hit."),
            text("Nobody could read the place from the seal before it was opened."),
        ),
        "not_list": _list(
            text("That the mat felt the place rightly: for that look under the pads."),
            text("That nobody moved what was hidden after the seal, or told of it."),
            text(
                "Compare with the seal you saw before the hit, noted or photographed, not only with the one shown now."
            ),
        ),
        "command": escape(_command(game, opened)),
    }
    return fill(document("check"), texts, pieces, language)


def _which(view: View | None, text: Text) -> str:
    opened = view.opening if view is not None else None
    if view is None or opened is None:
        said = text("No seal has been opened yet at this table. Fill in what you noted.")
    else:
        said = text("The fields hold the last seal opened, of hide {n}.").format(n=opened.hide)
    if view is None:
        return said
    for void in (*(opened.withdrawn if opened is not None else ()), *view.withdrawn):
        said += " " + text("The seal {seal} is void: it will never be opened.").format(seal=f"{void[:16]}…")
    if view.commit is not None and (opened is None or view.commit != opened.hash):
        said = f"{said} {text('The seal of the hide in progress is opened after the hit.')}"
    return said


def _fields(game: str, known: dict[str, Any], text: Text, language: str) -> str:
    options = "".join(
        f'<option value="{name}"{" selected" if name == game else ""}>{escape(game_name(name, language))}</option>'
        for name in sealed_games()
    )
    fields = (
        f'<p class="field"><label for="game">{escape(text("Game"))}</label><select id="game">{options}</select></p>'
    )
    older = text("nothing, for a seal of an earlier version")
    for name, label, hint in (
        ("table", text("Table"), text("its name")),
        ("epoch", text("Journal"), text("32 digits and letters a to f; {older}").format(older=older)),
        ("event", text("Event"), text("a number; {older}").format(older=older)),
        ("hide", text("Hide"), text("a number")),
        ("pad", text("Pad"), text("a number; of Slahal’s bones one digit each, 13 for pads 1 and 3")),
        ("nonce", text("Nonce"), text("64 digits and letters a to f")),
        ("hash", text("Seal (SHA-256)"), text("64 digits and letters a to f")),
    ):
        value = escape(str(known.get(name, "")))
        numeric = ' inputmode="numeric"' if name in {"event", "hide", "pad"} else ""
        fields += (
            f'<p class="field"><label for="{name}">{escape(label)}</label>'
            f'<input id="{name}" value="{value}" autocomplete="off" autocapitalize="none" spellcheck="false"{numeric} '
            f'aria-describedby="{name}-hint"><span class="hint" id="{name}-hint">{escape(hint)}</span></p>'
        )
    return f'{fields}<p><button type="button" id="check">{escape(text("Check"))}</button></p>'


def _verdicts(text: Text) -> str:
    said = {
        "match": text("They match: this place and this nonce give this very seal."),
        "differ": text("They do not match: this seal is not of what the fields hold. Compare every digit."),
        "bad_epoch": text("The journal has 32 digits and letters a to f, or nothing."),
        "bad_event": text("The event is a whole number from 1, or nothing where there is no journal."),
        "bad_hide": text("The hide is a whole number from 1."),
        "bad_pad": text("The pad is a whole number from 1."),
        "bad_nonce": text("The nonce has 64 digits and letters a to f."),
        "bad_hash": text("The seal has 64 digits and letters a to f."),
    }
    return "".join(f'<span data-verdict="{key}" hidden>{escape(one)}</span>' for key, one in said.items())


def _witness(text: Text) -> str:
    """Return what the script says of the seals that the visitor's own device saw before they were opened."""
    seen = escape(text("This device saw this seal before it was opened: {time}.")).format(time="<time></time>")
    unseen = escape(text("This device did not see this seal before it was opened: the live page was not open on it."))
    return f'<span data-witness="seen" hidden>{seen}</span><span data-witness="unseen" hidden>{unseen}</span>'


def _list(*said: str) -> str:
    return "".join(f"<li>{escape(one)}</li>" for one in said)


def _command(game: str, opened: Opening | None) -> str:
    """Return the shell's line of `referee.commitment`, with what is known filled in."""
    if opened is None:
        first = f"{DOMAIN}|TABLE|EPOCH|EVENT|{game}|HIDE|PAD|"
    else:
        first = head(game, opened.hide, opened.pad, Bound(opened.table, opened.epoch, opened.event))
    nonce = opened.nonce if opened is not None else "NONCE"
    return f'n={nonce}\n{{ printf %s {quote(first)}; printf %s "$n" | xxd -r -p; }} | sha256sum'
