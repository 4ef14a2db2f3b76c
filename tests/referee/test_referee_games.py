"""Every game of the registry has its referee, and a mat event never raises in any of them, whatever comes when."""

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.config import read_settings
from pi_controller.referee.facts import MAT_FACTS, Undone
from pi_controller.referee.history import Draft
from pi_controller.referee.json_lines import BUTTONS
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
from pi_controller.referee.reducer import apply_batch, blank
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, SamplesMissing, Strike

OPTIONS = {"ojibwe": {"games": 1}, "bageswin": {"sticks": 20}, "plum_stone": {"counters": 12}, "slahal": {"minutes": 2}}
PADS = st.integers(1, 4)
BEAD = st.builds(Bead, st.none() | PADS, st.booleans())
SIDES = st.sampled_from([None, "hider", "hitter"])
T = st.just(0.0)
EVENTS = st.one_of(
    st.builds(HandIn, T, PADS, SIDES),
    st.builds(HandOut, T, PADS, SIDES),
    st.builds(BeadsAtRest, T, st.lists(BEAD, max_size=5).map(tuple), st.booleans()),
    st.builds(
        BeadsAtRest,
        T,
        st.permutations([True, False, False, False]).map(lambda m: tuple(map(Bead, (1, 2, 3, 4), m))),
        st.just(True),
    ),
    st.builds(
        BeadsAtRest, T, st.sampled_from([(1, 3), (2, 4), (1, 4), (2, 3), (2,), (3,)]).map(lambda p: tuple(map(Bead, p)))
    ),
    st.builds(Strike, T, st.lists(PADS, max_size=3, unique=True).map(tuple), st.none(), st.booleans()),
    st.builds(SamplesMissing, T, T),
    st.builds(Button, T, st.sampled_from(BUTTONS)),
    st.builds(Link, T, st.booleans(), st.just("unplugged")),
)
CALLS = st.one_of(
    st.builds(JudgeUndo, T),
    st.builds(JudgeHideAgain, T),
    st.builds(
        JudgeAnswer,
        T,
        st.sampled_from(["play_on", "hide_again", "foul", "none", "1", "3", "left", "yes", "time", "counts"]),
    ),
    st.builds(JudgeAction, T, st.sampled_from([{"do": "guess", "signal": "left"}, {"do": "throw"}, {"do": "shoot"}])),
)
STEPS = st.lists(
    st.tuples(st.floats(0.0, 5.0), st.one_of(EVENTS, EVENTS, EVENTS, CALLS, st.integers(0, 20))), max_size=60
)


@pytest.mark.parametrize("name", registry.names())
def test_the_settings_take_any_game(name, tmp_path):
    file = tmp_path / "table.toml"
    file.write_text(f"[game]\nname = '{name}'\n", "utf-8")
    settings = read_settings(file)
    assert settings.game.name == name
    assert settings.referee_settings(registry.game(name).settings).hit_seconds is None
    assert referee_for(registry.game(name), RefereeSettings(hit_seconds=1.0), bytes).settings.hit_seconds == 1.0


@pytest.mark.parametrize("name", registry.names())
@settings(max_examples=cases(15, 150))
@given(steps=STEPS)
def test_any_event_order_folds_without_error(name, steps):
    """Sticks stay conserved by the game itself; here: nothing raises but a judge's call, and facts always fold."""
    game = registry.game(name, OPTIONS.get(name, {}))
    referee, story, t, told = referee_for(game, None, bytes), blank(game), 0.0, []

    def take(facts):
        nonlocal story
        if facts:
            told.append((story, facts))
            before, links = story, []
            for fact in facts:
                if isinstance(fact, Undone):
                    before = told[fact.batch - 1][0]
                    links = [f for _, each in told[fact.batch - 1 :] for f in each if isinstance(f, MAT_FACTS)]
            story = apply_batch(game, before, len(told), [*links, *facts])

    def draft():
        return Draft(len(told) + 1, story)

    for dt, what in steps:
        t += dt
        take(referee.tick(draft(), t).facts)
        if isinstance(what, int):  # the judge's console: any action that is allowed
            legal = game.legal_actions(story.state)
            action = legal[what % len(legal)] if legal else None
            if action and action["do"] == "foul" and story.phase == "show":
                action = {"hide": "this", **action}  # between two hides the judge says in which
            take(referee.decide(draft(), JudgeAction(t, action)).facts if action else ())
            continue
        event = type(what)(**{key: getattr(what, key) for key in what.__struct_fields__} | {"t": t})
        try:
            take(referee.decide(draft(), event).facts)
        except (InvalidActionError, IllegalActionError):
            assert isinstance(event, JudgeAction | JudgeAnswer | JudgeHideAgain | JudgeUndo)
        due = referee.next_deadline(story)
        assert due is None or story.question is None
        if story.question is not None:
            assert story.question.choices
            assert not story.strike_expected
    resumed = referee.resume(draft(), t).facts
    take(resumed)
    assert story.hide.seal.commit is None
