"""The page that verifies an opened commitment in the browser; its fields hold the last one opened."""

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Any

from pi_controller.games.registry import DEFAULT, kind, names, playable
from pi_controller.referee.commitment import DOMAIN, Bound, head
from pi_controller.show.i18n import catalogue
from pi_controller.show.words import game_name
from pi_controller.web.templates import render

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
    return render(
        "check.html",
        language,
        prefilled=_which(view, text),
        games=[(name, game_name(name, language)) for name in sealed_games()],
        game=game,
        known=known,
        command=_command(game, opened),
    )


def _which(view: View | None, text: Text) -> str:
    opened = view.opening if view is not None else None
    if view is None or opened is None:
        sentence = text("No seal has been opened yet at this table. Fill in what you noted.")
    else:
        sentence = text("The fields hold the last seal opened, of hide {n}.").format(n=opened.hide)
    if view is None:
        return sentence
    for void in (*(opened.withdrawn if opened is not None else ()), *view.withdrawn):
        sentence += " " + text("The seal {seal} is void: it will never be opened.").format(seal=f"{void[:16]}…")
    if view.commit is not None and (opened is None or view.commit != opened.hash):
        sentence = f"{sentence} {text('The seal of the hide in progress is opened after the hit.')}"
    return sentence


def _command(game: str, opened: Opening | None) -> str:
    """Return the shell's line of `referee.commitment`, with what is known filled in."""
    if opened is None:
        first = f"{DOMAIN}|TABLE|EPOCH|EVENT|{game}|HIDE|PAD|"
    else:
        first = head(game, opened.hide, opened.pad, Bound(opened.table, opened.epoch, opened.event))
    nonce = opened.nonce if opened is not None else "NONCE"
    return f'n={nonce}\n{{ printf %s {quote(first)}; printf %s "$n" | xxd -r -p; }} | sha256sum'
