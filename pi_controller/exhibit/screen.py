"""The public screen of an installation: the `Exhibit` as texts, counts and controls, in its language.

It is computed from the table's public view and from opened seals only, so it cannot contain the bead's place before the
hit.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import Translator, translator
from pi_controller.display.phrases import Phrases
from pi_controller.exhibit.lessons import Lesson, Sticks, count_sticks, explain_word, sticks
from pi_controller.exhibit.outcome import describe_outcome
from pi_controller.exhibit.stage import IDLE
from pi_controller.exhibit.visitor_game import VisitorGame
from pi_controller.pads import EVERY_PAD
from pi_controller.referee.story import SETTLED

if TYPE_CHECKING:
    from pi_controller.exhibit.exhibit import Exhibit
    from pi_controller.table.view import View


class ScreenChoice(msgspec.Struct, frozen=True):
    """A control: its touch name `do`, its label, its style `look` (`main`, `plain` or `quiet`), its key's `number`."""

    do: str
    label: str
    look: str = "plain"
    about: str = ""
    number: int = 0


class Pad(msgspec.Struct, frozen=True):
    """A cloth: its state `mark`, a caption, the touch it accepts ("" for none), and flags for a hand and an aim."""

    number: int
    mark: str = ""
    said: str = ""
    do: str = ""
    hand: bool = False
    aim: bool = False


class Row(msgspec.Struct, frozen=True):
    """Sticks of a side or of the middle: `count` of them, the last `new` just arrived."""

    key: str
    name: str
    role: str
    count: int
    new: int
    points: int


class Envelope(msgspec.Struct, frozen=True):
    """The mat's sealed guess or hiding place: a sentence about it, and the pads on its paper once it is opened."""

    said: str
    opened: bool = False
    pads: str = ""


class ScreenStep(msgspec.Struct, frozen=True):
    """An explained word or step."""

    title: str
    sounds: str
    text: str
    caveat: str


class Ending(msgspec.Struct, frozen=True):
    """The end of a game: who has won or is ahead (`name`), the score `told` and the winner's sticks.

    `lying` are the short sticks won, `standing` the long sticks if no point was won; `look` is the winner's, a or b.
    `course` has the long sticks of both sides from the beginning on, and `names` their names, by look;
    `caption` says what it is.
    """

    name: str
    told: str
    look: str
    lying: int
    standing: int
    course: dict[str, tuple[int, ...]]
    names: dict[str, str]
    caption: str


class Heard(msgspec.Struct, frozen=True):
    """The screen for a screen reader, which announces the parts that change: the `sentence` and the `stakes` below it,
    a `note` to read, and the `outcome` of the last hit, which came at the `moment`.
    """

    sentence: str = ""
    stakes: str = ""
    note: str = ""
    outcome: str = ""
    moment: str = ""


class Screen(msgspec.Struct, frozen=True):
    """One picture of the installation. `until` is when it ends by itself (s of its clock), labelled `until_says`."""

    stage: str
    turn: int
    language: str
    low: bool
    title: str
    lead: str
    under: str = ""
    choices: tuple[ScreenChoice, ...] = ()
    pads: tuple[Pad, ...] = ()
    rows: tuple[Row, ...] = ()
    step: ScreenStep | None = None
    words: tuple[ScreenStep, ...] = ()
    numbered: bool = False
    """True if the controls show their numbers, for four large buttons."""
    mat: str = "screen"
    """The kind of mat: the cloths of a real one lie in a row on an upright screen, too."""
    touch: str = ""
    """The touch that the stage itself accepts, besides the controls; "" for none."""
    envelope: Envelope | None = None
    curtain: bool = False
    """True while a curtain hides the cloths, until the other side has the screen."""
    report: tuple[str, ...] = ()
    """Sentences on a game that has ended, the score first."""
    ending: Ending | None = None
    heard: Heard = Heard()
    """Empty while there is no visitor."""
    how: tuple[str, ...] = ()
    """The explanation of the mat's guess, if a visitor asked for it."""
    until: float | None = None
    until_says: str = ""
    credit: str = ""
    staff: str = ""
    """A message to the staff, readable from afar."""
    bright: float = 1.0
    """Brightness of the page, 0 to 1; 0 while the screen is off."""


def build_screen(exhibit: Exhibit, tr: Translator | None = None) -> Screen:
    """Return the current screen of `exhibit` in the language of `tr`; None is the visitors'."""
    return _ScreenWriter(exhibit, tr or translator(exhibit.language)).screen()


def _capitalise(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def name_sides(view: View, exhibit: Exhibit, tr: Translator) -> View:
    """Return the view with the sides' names in the language of `tr`."""
    if exhibit.stage.name in IDLE or exhibit.kind == "teams":
        names = {"A": tr.text("side A"), "B": tr.text("side B")}
    else:
        names = {"A": tr.text("your side"), "B": tr.text("the mat")}
    return msgspec.structs.replace(view, teams=names)


def _sticks_before_and_now(view: View) -> tuple[Sticks, Sticks]:
    """Return the sticks before the last hide while its result is shown, and the sticks now."""
    now = sticks(view)
    if view.phase not in SETTLED or view.before is None:
        return now, now
    return count_sticks(view.before), now


def _best_side(view: View) -> str:
    """Return the side that has won the point, or has more sticks; "" if they are equal."""
    if view.winner is not None:
        return view.winner
    a, _, b = sticks(view)
    return "A" if a > b else "B" if b > a else ""


def _step(lesson: Lesson) -> ScreenStep:
    return ScreenStep(lesson.title, lesson.sounds, lesson.text, lesson.caveat)


class _ScreenWriter:
    """Writes the parts of the screen of `exhibit` in the language of `tr`."""

    def __init__(self, exhibit: Exhibit, tr: Translator) -> None:
        self.exhibit, self.tr, self.say = exhibit, tr, Phrases(tr)

    def screen(self) -> Screen:
        """Return the current screen."""
        exhibit, tr, dakota = self.exhibit, self.tr, get_show("dakota", self.tr)
        host, stage = exhibit.host.texts, exhibit.stage.name
        title = host.title or dakota.name
        lead, under = (_capitalise(said) for said in self._sentences())
        game = exhibit.game if stage in ("attract", "play", "result") else None
        lesson = game.lessons.lesson(tr) if game is not None and game.lessons is not None else None
        view = name_sides(game.view, exhibit, tr) if game is not None else None
        report = self._report(game) if game is not None and stage == "result" else ()
        until, until_says = self._deadline()
        return Screen(
            stage=stage,
            turn=exhibit.turn,
            language=tr.code,
            low=exhibit.low,
            title=title,
            lead=lead,
            under=under,
            choices=self._choices(),
            pads=self._pads(game, view) if game is not None and view is not None and stage != "result" else (),
            rows=self._rows(view, lesson) if view is not None and stage != "result" else (),
            step=_step(lesson) if lesson is not None and stage == "play" else None,
            words=self._words(view) if view is not None and lesson is None else (),
            numbered=exhibit.section.four_buttons,
            mat=exhibit.section.mat,
            touch=self._stage_touch(),
            envelope=self._envelope(game) if game is not None and stage == "play" else None,
            curtain=game is not None and game.awaits == "handover",
            report=report,
            ending=self._ending(game) if game is not None and stage == "result" else None,
            heard=self._make_heard(view, lead, under, lesson, report) if stage not in IDLE else Heard(),
            how=self._explain_guess(game) if game is not None and exhibit.how else (),
            until=until,
            until_says=until_says,
            credit=" ".join(filter(None, (host.attribution, dakota.credit))),
            staff=tr.text("Staff: the keys on this machine’s card have changed. Open the staff page.")
            if exhibit.keys_changed and stage in IDLE
            else "",
            bright=0.0 if exhibit.screen_off else exhibit.section.dim_page if exhibit.dimmed else 1.0,
        )

    def _stage_touch(self) -> str:
        """Return the touch that the stage itself accepts; "" for none."""
        stage = self.exhibit.stage.name
        own = {"attract": "start", "rest": "wake"}.get(stage, "")
        return own or ("skip" if "skip" in self.exhibit.touches else "")

    def _make_heard(
        self, view: View | None, lead: str, under: str, lesson: Lesson | None, report: tuple[str, ...]
    ) -> Heard:
        """Return the screen for a screen reader."""
        game, asked = self.exhibit.game, self.exhibit.asked
        if game is None or view is None:
            return Heard(lead, under)
        if game.aim is not None and not asked:
            lead = self.tr.text("The mat hits cloth {pad}.", pad=game.aim)
        note = " ".join(report)
        if lesson is not None:
            note = " ".join(f"{one}." if one[-1] not in ".!?" else one for one in lesson[1:4] if one)
        calls = Phrases(self.tr).list_calls(view) if self._words(view) and lesson is None else ""
        outcome = " ".join(filter(None, (describe_outcome(view, self.tr), calls and f"{calls}.")))
        return Heard(
            lead, under, note, outcome, f"{view.hide} {len(view.hits)} {view.foul or ''} {view.phase in SETTLED}"
        )

    def _sentences(self) -> tuple[str, str]:
        """Return the main sentence of the screen, and a smaller one below it."""
        host, game = self.exhibit.host.texts, self.exhibit.game
        match self.exhibit.stage.name:
            case "attract":
                return self.tr.text("Can you find the bead?"), host.what
            case "choose":
                return self.tr.text("How do you want to play?"), ""
            case "about":
                return self.tr.text("About this game"), ""
            case "rest":
                today = self.exhibit.closed_today
                sign = self.tr.text("Closed today. Please come back another day.") if today else ""
                closed = host.closed or sign or self.tr.text("Closed until the doors open again.")
                season = host.out_of_season or self.tr.text(
                    "Closed: the game is not played here at this time of the year."
                )
                return (closed if self.exhibit.in_season else season), ""
            case "notice":
                return self.exhibit.notice or self.tr.text("Out of order for a while. Please come back later."), ""
            case "result" if game is not None:
                return self._leader(game), ""
            case "play" if self.exhibit.leaving:
                return self.tr.text("Stop this game?"), ""
            case "play" if self.exhibit.asked:
                return self.tr.text("Are you still there?"), ""
            case "play" if game is not None:
                return self._moment(game)
            case _:
                return self.tr.text("Thank you for playing."), ""

    def _moment(self, game: VisitorGame) -> tuple[str, str]:
        view = name_sides(game.view, self.exhibit, self.tr)
        teams = self.exhibit.kind == "teams"
        side = view.teams.get(view.scoreboard.turn or "", "")
        hitters = view.teams.get("B" if view.scoreboard.turn == "A" else "A", "")
        if game.awaits == "next":
            return self.say.result(view) if view.phase in SETTLED else self.tr.text("Before we continue"), ""
        if game.awaits == "question" and view.question is not None:
            about = (
                self.tr.text("Lift the cloth and look: is the bead there?") if view.question.about == "found" else ""
            )
            return about or self.say.question(view.question, view.teams), ""
        if game.waits_for_lift:
            return self.say.notice(view), ""
        match view.phase, game.hider, game.hitter:
            case "toss", _, _:
                return self.tr.text("A coin toss decides who hides first."), ""
            case "hide", "visitor", _ if game.awaits == "pads":
                if teams:
                    lead = (
                        self.tr.text("{side} hides again. The others look away.", side=side)
                        if game.hides_again
                        else self.tr.text("{side} hides. The others look away.", side=side)
                    )
                    return lead, self.tr.text("Touch the cloth where you want to leave the bead.")
                if game.hides_again:
                    return self.tr.text("You hide again. Touch the cloth where you want to leave the bead."), ""
                return self.tr.text("You hide. Touch the cloth where you want to leave the bead."), ""
            case "hide", "visitor", _ if game.awaits == "ready":
                return self.tr.text(
                    "{side} hides the bead: go under each cloth once and leave it under one.", side=side
                ), ""
            case "hide" | "check", "mat", _ if game.hides_again:
                return self.tr.text("The mat hides again, in a random place, and seals it."), ""
            case "hide" | "check", "mat", _:
                return self.tr.text("The mat hides the bead in a random place and seals it."), ""
            case "hide" | "check", _, _:
                return self.tr.text(
                    "The hand goes under each cloth, so the other side cannot see where the bead stays."
                ), ""
            case "hit", _, "visitor" if game.awaits == "handover":
                return self.tr.text("Give the screen to the other side. Ready?"), ""
            case "hit", _, "visitor":
                second = bool(view.hits)
                if second:
                    lead = self.tr.text("Second hit. Now try not to find it.")
                else:
                    lead = self.tr.text("First hit. Touch the cloth where you think the bead is.")
                return (f"{hitters}: {lead}" if teams else lead), self.say.describe_stakes(view)
            case "hit", _, _:
                lead = (
                    self.tr.text("The mat hits the lit cloth.")
                    if game.aim
                    else self.tr.text("The mat is about to hit.")
                )
                return lead, self.say.describe_stakes(view)
            case _:
                return self.say.result(view) or self.say.sentence(view), ""

    def _leader(self, game: VisitorGame) -> str:
        """Return who has won or is ahead at the end of a game."""
        view = name_sides(game.view, self.exhibit, self.tr)
        best = _best_side(view)
        if not best:
            return self.tr.text("The sides are equal.")
        template = self.tr.text("{side} is ahead!") if view.winner is None else self.tr.text("{side} wins the point!")
        return template.format(side=view.teams[best])

    def _ending(self, game: VisitorGame) -> Ending:
        view = name_sides(game.view, self.exhibit, self.tr)
        best, won = _best_side(view), view.winner is not None
        counts = view.scoreboard.scores if won else view.scoreboard.stakes
        most, least = sorted(counts.values(), reverse=True)
        if won:
            told = self.tr.text("wins the point") if most == 1 else self.tr.text("wins, {most} to {least}")
        else:
            told = self.tr.text("is ahead, {most} sticks to {least}") if best else self.tr.text("{most} sticks each")
        course = game.course[:-1] if won else game.course  # a point moves all sticks to the middle
        return Ending(
            _capitalise(view.teams[best]) if best else self.tr.text("The sides are equal.").rstrip("."),
            told.format(most=most, least=least),
            best.lower(),
            most if won else 0,
            0 if won or not best else most,
            {"a": tuple(one[0] for one in course), "b": tuple(one[2] for one in course)} if len(course) > 1 else {},
            {key.lower(): _capitalise(name) for key, name in view.teams.items()},
            self.tr.text("Long sticks after each hide, until the point was won")
            if won
            else self.tr.text("Long sticks after each hide"),
        )

    def _report(self, game: VisitorGame) -> tuple[str, ...]:
        """Return the score, the visitor's first, and how the visitor hid.

        The score is in points if a point was won, which moves the sticks; else in long sticks.
        """
        view = game.view
        a, b = (view.scoreboard.scores if view.winner is not None else view.scoreboard.stakes).values()
        if self.exhibit.kind == "teams":
            score = (
                self.tr.text("Points: side A {a}, side B {b}.")
                if view.winner is not None
                else self.tr.text("Side A {a}, side B {b}.")
            )
            return (score.format(a=a, b=b), self.tr.text("Thank you for playing."))
        score = (
            self.tr.text("Points: your side {yours}, the mat’s side {mats}.")
            if view.winner is not None
            else self.tr.text("Your side {yours}, the mat’s side {mats}.")
        )
        return score.format(yours=a, mats=b), self._habits(game) or self.tr.text("Thank you for playing.")

    def _habits(self, game: VisitorGame) -> str:
        """Return a sentence on how the visitor hid; "" after fewer than two hides."""
        hidden = game.hidden_under
        if len(hidden) < 2:
            return ""
        pad, most = Counter(hidden).most_common(1)[0]
        if most == 1:
            return self.tr.text("You hid it {times} times, never twice under one cloth.", times=len(hidden))
        return self.tr.text(
            "You hid it {times} times, {most} of them under cloth {pad}.", times=len(hidden), most=most, pad=pad
        )

    def _choices(self) -> tuple[ScreenChoice, ...]:
        """Return the controls other than the cloths, in the order of the screen."""
        labels = {
            "start": (self.tr.text("Touch here to play"), "main", ""),
            "about": (self.tr.text("About this game"), "quiet", ""),
            "game:learn": (self.tr.text("Show me how"), "main", self.tr.text("a short guided game")),
            "game:mat": (
                self.tr.text("Against the mat"),
                "plain",
                self.tr.text("you hide and it guesses, it hides and you hit"),
            ),
            "game:teams": (
                self.tr.text("Two sides"),
                "plain",
                self.tr.text("play each other, the mat counts the sticks"),
            ),
            "again": (self.tr.text("Rematch"), "main", ""),
            "choose": (self.tr.text("Other ways to play"), "plain", ""),
            "here": (self.tr.text("Yes, keep playing"), "main", ""),
            "next": (self.tr.text("Continue"), "main", ""),
            "handover": (self.tr.text("We are ready"), "main", ""),
            "skip": (self.tr.text("Skip"), "quiet", ""),
            "ready": (self.tr.text("I have hidden it"), "main", ""),
            "how": (self.tr.text("Show me"), "quiet", ""),
            "leave": (self.tr.text("Back to the start"), "quiet", ""),
        }
        numbers = {do: number for number, do in self.exhibit.numbers.items()}
        made = [ScreenChoice(do, *labels[do], numbers.get(do, 0)) for do in self.exhibit.touches if do in labels]
        answers = [do for do in self.exhibit.touches if do.startswith("answer:")]
        made += [
            ScreenChoice(do, self.say.choice(do.partition(":")[2]), "main", "", numbers.get(do, 0)) for do in answers
        ]
        return tuple(sorted(made, key=lambda one: ("main", "plain", "quiet").index(one.look)))

    def _pads(self, game: VisitorGame, view: View) -> tuple[Pad, ...]:
        touches = set(self.exhibit.touches)
        drawn = get_show(view.game, self.tr).pads(view)
        return tuple(
            Pad(
                number,
                pad.mark,
                pad.said,
                do=f"pad:{number}" if f"pad:{number}" in touches else "",
                hand=game.hand == number,
                aim=game.aim == number,
            )
            for number, pad in zip(EVERY_PAD, drawn, strict=True)
        )

    def _rows(self, view: View, lesson: Lesson | None) -> tuple[Row, ...]:
        before, after = (lesson.before, lesson.after) if lesson is not None else _sticks_before_and_now(view)
        names = (_capitalise(view.teams["A"]), self.tr.text("In the middle"), _capitalise(view.teams["B"]))
        roles = tuple(
            get_show(view.game, self.tr).label(side.role) if side.role and view.phase not in SETTLED else ""
            for side in view.scoreboard.sides
        )
        show = self.exhibit.stage.name == "attract"
        return tuple(
            Row(
                key,
                name,
                "" if show else one,
                now,
                max(0, now - was),
                view.scoreboard.scores.get(key.upper(), 0),
            )
            for key, name, one, now, was in zip(
                ("a", "middle", "b"), names, (roles[0], "", roles[1]), after, before, strict=True
            )
            if not (show and key == "middle")
        )

    def _words(self, view: View) -> tuple[ScreenStep, ...]:
        """Return the words called for the hide on show, without the English one of every game."""
        if view.phase not in SETTLED:
            return ()
        return tuple(ScreenStep(*explain_word(call, self.tr)) for call in view.calls if call != "game")

    def _envelope(self, game: VisitorGame) -> Envelope | None:
        """Return the envelope with the mat's guess or hiding place; None if nothing is sealed."""
        if not game.is_sealed:
            return None
        hides = game.hider == "mat"
        if not game.opened:
            return Envelope(
                self.tr.text("The bead’s place is in here.") if hides else self.tr.text("The mat’s guess is in here.")
            )
        said = self.tr.text("Sealed before you hit.") if hides else self.tr.text("Sealed before you hid.")
        return Envelope(said, opened=True, pads=" · ".join(game.opened))

    def _explain_guess(self, game: VisitorGame) -> tuple[str, ...]:
        guess = game.guessed
        if guess is None:
            return ()
        reasons = {
            "none": self.tr.text("It guessed at random: it does not know your habits yet."),
            "often": self.tr.text("You have chosen cloth {pad} more often than the others."),
            "after": self.tr.text("After your last cloth, you often chose cloth {pad}."),
            "steps": self.tr.text("You often move in the same pattern. It led to cloth {pad}."),
        }
        return (
            reasons[guess.habit].format(pad=guess.first),
            self.tr.text("It forgets this when you leave."),
            self.tr.text(
                "Sealed before the hits: first cloth {first}, then {second}.", first=guess.first, second=guess.second
            ),
        )

    def _deadline(self) -> tuple[float | None, str]:
        game = self.exhibit.game
        if self.exhibit.ends_at is not None:
            return self.exhibit.ends_at, self.tr.text("Back to the start in")
        if self.exhibit.stage.name != "play" or game is None:
            return None, ""
        question = game.view.question
        if game.awaits == "question" and question is not None and question.until is not None:
            return question.until, self.tr.text("Without an answer, the hide starts over in")
        if game.awaits == "next" and game.continues_at is not None:
            return game.continues_at, self.tr.text("Continues in")
        return None, ""
