"""Visitors for whom a screen is not made by itself: each plays, or walks off, and the installation bears it."""

import random
import re
from contextlib import ExitStack

import pytest
from exhibit_rig import STATES, STEP_S, Rig
from memory_sound import MemorySound

from pi_controller.board.buttons import MockButtons
from pi_controller.config import read_settings
from pi_controller.display.announcement import is_english_word
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.sound import Clip, tones
from pi_controller.display.voice import Voice
from pi_controller.display.word_recordings import MAX_WORD_S
from pi_controller.exhibit.exhibit import SWITCHES
from pi_controller.exhibit.pages import render_screen
from pi_controller.exhibit.screen import build_screen
from pi_controller.exhibit.spoken import Prompter
from pi_controller.pads import EVERY_PAD
from pi_controller.runtime import assembly
from pi_controller.runtime.assembly import assemble_exhibit
from pi_controller.sensing.events import Button

GAMES = {"learn": 1, "mat": 2, "teams": 3}
WORDS_A_SECOND = 2.5
"""The speed of the host's speech."""
NAMES = {
    get_show("dakota", ENGLISH).word(call).shown
    for call in get_show("dakota", ENGLISH).words
    if not is_english_word(call, "dakota")
}


# A blind visitor: hears the prompts, and presses numbers or hits the mat.


class Listener:
    """Plays by what is heard alone: presses a number that the last prompt offers."""

    def __init__(self, rig, rng):
        self.rig, self.rng, self.prompter = rig, rng, Prompter()
        self.heard, self.offered = [], ()
        self.listen()

    def listen(self):
        prompt = self.prompter.step(self.rig.exhibit)
        if prompt is None:
            return
        self.heard += [(self.rig.t, said) for said in prompt[:2] if said]
        if prompt.ask or prompt.news:
            several = re.search(r"Press ((?:\d, )*\d) or (\d)\.", prompt.ask)
            offered = [*several[1].split(", "), several[2]] if several else re.findall(r"(\d): ", prompt.ask)
            self.offered = tuple(map(int, offered))

    def press(self, number):
        self.rig.advance(0.5)
        self.offered = ()
        self.rig.exhibit.press(self.rig.t, number)
        self.listen()

    def wait(self, wanted, limit_s=120.0):
        end = self.rig.t + limit_s
        while not wanted():
            assert self.rig.t < end, self.heard[-3:]
            self.rig.advance(STEP_S)
            self.listen()

    def play(self, kind):
        """Play a whole game; each press is one that was offered aloud."""
        self.press(1)
        assert len(self.offered) == 4
        self.press(GAMES[kind])
        while self.rig.stage == "play":
            self.wait(lambda: self.offered or self.rig.stage != "play")
            if self.rig.stage == "play":
                self.press(self.rng.choice(self.offered))


@pytest.mark.parametrize("kind", GAMES)
def test_spoken_prompts_suffice_to_play_a_game(kind):
    rig = Rig(4, hides=5)
    listener = Listener(rig, random.Random(2))
    listener.play(kind)
    assert rig.sessions[-1].ending == "finished"
    assert rig.sessions[-1].hides >= 3
    said = " ".join(one for _, one in listener.heard)
    assert not any(name in said for name in NAMES), "a speech that knows English only would garble these words"
    longest = max(len(one.split()) for one in re.split(r"(?<=[.!?])\s+", said))
    assert longest / WORDS_A_SECOND < MAX_WORD_S, "the voice would not play it"
    assert listener.offered, "the result tells how to go on"
    listener.press(1)
    assert rig.stage == "play"


def heard_until_a_hit(kind, place, pressed):
    """Return everything heard, with its time, of a hide under `place`, until a hit has told where it is."""
    rig = Rig(1)
    listener = Listener(rig, random.Random(0))
    listener.press(1)
    listener.press(GAMES[kind])
    listener.wait(lambda: rig.game.awaits == "pads")
    pressed(rig, listener, place)
    listener.wait(lambda: rig.game.awaits == "handover" or rig.game.view.hits)
    return listener.heard if rig.game.awaits == "handover" else [one for one in listener.heard if one[0] < rig.t]


def press_number(rig, listener, place):
    listener.press(place)


def touch_cloth(rig, listener, place):
    assert rig.touch(f"pad:{place}")
    listener.listen()


@pytest.mark.parametrize("pressed", [press_number, touch_cloth])
@pytest.mark.parametrize("kind", ["mat", "teams"])
def test_prompts_before_hit_do_not_reveal_bead(kind, pressed):
    first, *others = [heard_until_a_hit(kind, place, pressed) for place in EVERY_PAD]
    assert len(first) > 4
    assert all(one == first for one in others)


def test_prompt_names_bead_pad_after_the_hit():
    rig = Rig(4, hides=5)
    listener = Listener(rig, random.Random(2))
    listener.play("mat")
    told = [one for _, one in listener.heard if "hit, cloth" in one]
    assert len(told) >= 5
    assert all("under cloth" in one or ": found." in one or "not found" in one for one in told)


def test_unused_number_repeats_the_prompt():
    rig = Rig(1)
    listener = Listener(rig, random.Random(0))
    listener.press(1)
    last = listener.heard[-1][1]
    listener.press(7)
    assert last.startswith(listener.heard[-1][1])
    assert len(listener.heard) == 2


def test_prompt_with_cut_discards_queued_prompts():
    now = [0.0]
    sound = MemorySound(lambda: now[0])

    def speak(said):
        return Clip(said, tones(0.0, seconds=0.1).samples, 44100)

    voice = Voice(sound, lambda: now[0], speak=speak, prompted=True)
    for said, cut in (("One. Two.", False), ("Three.", False), ("Four. Five.", True), ("", True)):
        voice.say(said, cut=cut)
        for _ in range(2 if cut else 1):
            voice.step()
            now[0] += 4.0  # later than a called word may be
    assert [name for _, name, _ in sound.played] == ["One.", "Two.", "Four.", "Five."]


def test_game_with_four_buttons_is_guided_by_voice(tmp_path, monkeypatch):
    buttons, now = MockButtons(), [1_700_000_000.0]
    sound, voices = MemorySound(lambda: now[0]), []
    monkeypatch.setattr(assembly, "make_buttons", lambda settings, clock: buttons)
    monkeypatch.setattr("pi_controller.display.voice.AplaySound", lambda _: sound)
    monkeypatch.setattr(
        "pi_controller.display.voice.speak", lambda said: Clip(said, tones(0.0, seconds=0.1).samples, 44100)
    )
    monkeypatch.setattr(Voice, "start", lambda voice: voices.append(voice))  # noqa: PLW0108 - bound to a voice
    (tmp_path / "table.toml").write_text(
        "[web]\nport = 0\n[voice]\nenglish = true\n[exhibit]\nfour_buttons = true\nhides = 3\nanswer_s = 5\n"
    )
    with ExitStack() as stack:
        daemon = assemble_exhibit(read_settings(tmp_path / "table.toml"), tmp_path, lambda: now[0], stack)
        exhibit, rng, seen = daemon.table.exhibit, random.Random(3), []

        def step(seconds=0.2):
            now[0] += seconds
            daemon.step(now[0])
            voices[0].step()
            seen.append(exhibit.stage.name)
            assert len(seen) < 5000, seen[-1]

        def press(number):
            buttons.press(SWITCHES[number - 1], now[0], 0.05)

        step()
        press(4)
        listened = 0
        while exhibit.stage.name != "result":
            step()
            numbers = [n for n in exhibit.numbers if n <= 4]
            if exhibit.stage.name == "choose" and seen.count("choose") > 20:  # the choices are heard first
                press(2)
            listened = listened + 1 if exhibit.game is not None and exhibit.game.touches and numbers else 0
            if listened > 4:
                press(rng.choice(numbers))
        heard = [name for _, name, _ in sound.played]
        while exhibit.stage.name != "attract":
            step()
        before = len(sound.played)
        for _ in range(100):
            step()
    assert {"attract", "choose", "play", "result"} == set(seen)
    assert any("Against the mat" in one for one in heard)
    assert any("Press 1, 2, 3 or 4." in one for one in heard)
    assert any("hit, cloth" in one for one in heard)
    assert len(sound.played) == before, "it is silent while nobody plays"


# A colour-blind visitor.


@pytest.mark.parametrize("state", STATES)
def test_no_colour_names_a_side(state):
    rig = STATES[state]()
    said = str(render_screen(build_screen(rig.exhibit), rig.exhibit.host.texts))
    assert not re.search(r"\b(blue|red|green|yellow|golden?)\b", re.sub(r"<[^>]*>", " ", said), re.IGNORECASE)


def test_every_row_of_sticks_has_unique_name():
    for make in STATES.values():
        rows = build_screen(make().exhibit).rows
        assert len({row.name for row in rows}) == len(rows)


# A child who hits all buttons at once.


@pytest.mark.parametrize("seed", range(4))
def test_of_four_buttons_at_once_one_counts(seed):
    rig = Rig(seed, four_buttons=True)
    rig.begin("mat")
    while rig.game.awaits != "strike":
        if rig.game.touches:
            rig.touch("pad:1")
        rig.advance(STEP_S)
    before = len(rig.game.view.hits)
    for name in SWITCHES:
        rig.exhibit.handle_mat_event(rig.t, Button(rig.t, name))
    assert len(rig.game.view.hits) == before + 1


def test_leaving_asks_first_and_accepts_either_answer():
    rig = STATES["hiding"]()
    assert rig.touch("leave")
    assert (rig.stage, rig.exhibit.leaving) == ("play", True)
    assert rig.touch("here")
    assert rig.game.awaits == "pads"
    rig.leave()
    assert rig.stage == "attract"
    assert rig.sessions[-1].ending == "left"


# Somebody who walks off.


VISITED = [state for state in STATES if state not in ("attract", "rest", "buttons")]


@pytest.mark.parametrize("state", VISITED)
def test_abandoned_session_leaves_no_trace_for_next_visitor(state):
    rig = STATES[state]()
    rig.exhibit.section = rig.exhibit.section.model_copy(update={"languages": ("en", "oj")})
    rig.touch("language:oj")
    rig.touch("low")
    times, began = rig.exhibit.times, rig.t
    if "how" in rig.exhibit.touches:
        rig.touch("how")
    allowed = times.answer_s if rig.stage != "play" else times.ask_after_s + times.leave_after_s
    prompter = Prompter()
    prompter.step(rig.exhibit)
    last = None
    while rig.stage != "attract":
        assert rig.t - began <= allowed + 2 * STEP_S
        rig.advance(STEP_S)
        last = prompter.step(rig.exhibit) or last
    fresh = Rig(9, languages=("en", "oj"))
    assert drawn(rig) == drawn(fresh)
    assert (last.cut, last.news, last.ask) == (True, "", ""), "no prompt of the earlier visitor is heard any more"
    rig.begin("mat")
    assert rig.exhibit.language == "en"
    assert rig.game.hidden_under == []
    assert rig.game._opponent._last is None, "the mat knows no habit of the earlier visitor"


def drawn(rig):
    """Return the attract screen without the game that plays itself there."""
    screen = build_screen(rig.exhibit)
    html = str(render_screen(screen, rig.exhibit.host.texts, (("en", "English"), ("oj", "oj"))))
    return re.sub(r'<section class="stage".*</section>', "", html, flags=re.DOTALL)
