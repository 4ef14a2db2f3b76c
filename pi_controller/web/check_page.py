"""The page that verifies an opened commitment in the browser; its fields are prefilled with the last one."""

from dataclasses import asdict
from shlex import quote
from typing import Any

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.referee import commitment
from pi_controller.rules import registry
from pi_controller.table.view import Opening, View
from pi_controller.web.templates import render


def sealed_games() -> tuple[str, ...]:
    """Return the games with a hidden position, for which there is a commitment."""
    return tuple(
        name for name in registry.names() if registry.playable(name) and registry.game_class(name).hidden is not None
    )


def check_page(view: View | None, tr: Translator) -> str:
    """Return the page, prefilled with the last commitment that was opened in `view`."""
    opened = view.opening if view is not None else None
    game = view.game if view is not None and view.game in sealed_games() else registry.DEFAULT_GAME
    known = asdict(opened) if opened is not None else dict[str, Any]()
    return render(
        "check.html",
        tr,
        prefilled=_describe_prefill(view, tr),
        games=[(name, get_show(name, tr).name) for name in sealed_games()],
        game=game,
        known=known,
        command=_command(game, opened),
    )


def _describe_prefill(view: View | None, tr: Translator) -> str:
    opened = view.opening if view is not None else None
    if view is None or opened is None:
        sentence = tr.text("No seal has been opened at this table yet. Enter your notes.")
    else:
        pads = str(opened.pad)  # in slahal one digit for each bone
        sentence = tr.plural(
            "Hide {n}: the table wrote down pad {pads} before the hit.",
            "Hide {n}: the table wrote down pads {pads} before the hit.",
            len(pads),
            n=opened.hide,
            pads=Phrases(tr).join_pads(pads),
        )
    if view is None:
        return sentence
    for void in (*(opened.withdrawn if opened is not None else ()), *view.withdrawn):
        sentence += " " + tr.text("The seal {seal} is void and stays closed.", seal=f"{void[:16]}…")
    if view.commit is not None and (opened is None or view.commit != opened.hash):
        sentence = f"{sentence} {tr.text('The seal of the hide in progress is opened after the hit.')}"
    return sentence


def _command(game: str, opened: Opening | None) -> str:
    """Return the shell command that checks `referee.commitment`, with the known values filled in."""
    if opened is None:
        first = f"{commitment.DOMAIN}|TABLE|EPOCH|EVENT|{game}|HIDE|PAD|"
    else:
        first = commitment.hash_prefix(
            game, opened.hide, opened.pad, commitment.CommitmentContext(opened.table, opened.epoch, opened.event)
        )
    nonce = opened.nonce if opened is not None else "NONCE"
    return f'n={nonce}\n{{ printf %s {quote(first)}; printf %s "$n" | xxd -r -p; }} | sha256sum'
