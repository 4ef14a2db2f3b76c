"""The result of a hit in words for people who do not see the screen: the cloth, the bead's place, and the sticks."""

from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.shown_names import isolate_name
from pi_controller.exhibit.lessons import sticks
from pi_controller.referee.story import SETTLED
from pi_controller.table.view import View


def describe_outcome(view: View, tr: Translator) -> str:
    """Return the result of the last hit or foul of this hide as sentences, "" if there is none yet.

    The sides are named by `view.teams`; once the hide is over, the place of the bead and the sticks follow.
    """
    hits = view.hits[:2]
    if not hits and not view.foul:
        return ""
    said = [Phrases(tr).foul(view.foul)] if view.foul else []
    if hits:
        said.append(_describe_hit(len(hits), hits[-1].pad, tr, found=hits[-1].found))
    if view.phase not in SETTLED:
        return " ".join(said)
    opened = view.opening
    if opened is not None and opened.hide == view.hide and not (hits and hits[-1].found):
        said.append(tr.text("The bead was under cloth {pad}.", pad=opened.pad))
    return " ".join([*said, *describe_sticks(view, tr)])


def _describe_hit(number: int, pad: int | None, tr: Translator, *, found: bool) -> str:
    if pad is None:
        hit = tr.text("First hit") if number == 1 else tr.text("Second hit")
    elif number == 1:
        hit = tr.text("First hit, cloth {pad}", pad=pad)
    else:
        hit = tr.text("Second hit, cloth {pad}", pad=pad)
    return tr.text("{hit}: found.", hit=hit) if found else tr.text("{hit}: not found.", hit=hit)


def describe_sticks(view: View, tr: Translator) -> list[str]:
    """Return how many long sticks each side has and how many lie in the middle, as sentences; [] after a point."""
    if view.winner is not None:
        return []
    a, middle, b = sticks(view)
    names = {key: isolate_name(name) for key, name in zip(("one", "other"), view.teams.values(), strict=True)}
    said = tr.text("Long sticks: {one} {a}, {other} {b}.", a=a, b=b, **names)
    left = tr.plural("One lies in the middle.", "{n} lie in the middle.", middle, n=middle) if middle else ""
    return list(filter(None, (said, left)))
