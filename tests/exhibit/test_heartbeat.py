"""The heartbeat of an installation: to the host's monitor alone, at fixed times, with nothing of the visitors."""

from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from cases import cases
from exhibit_rig import WELL

from pi_controller.config import read_settings
from pi_controller.exhibit.exhibit import KINDS as WAYS_TO_PLAY
from pi_controller.exhibit.heartbeat import BEAT_S, FIRST_BEAT_S, Heartbeat, HeartbeatError, find_state
from pi_controller.runtime.assembly import assemble_exhibit

NOW = 1_790_000_000.0
ADDRESS = "https://monitor.example/ping/s3cr3t"
UP = {"status": "up", "msg": "OK"}


def installation_with(*faults):
    """Return the part of an installation that a beat reads, with these faults on its staff page."""
    shown = SimpleNamespace(faults=[SimpleNamespace(kind=kind) for kind in faults])
    return SimpleNamespace(staff=SimpleNamespace(page=SimpleNamespace(shown=shown)))


def beats_of(*times, faults=(), fails=False):
    """Return the times (s) at which an installation stepped at `times` sends a beat."""
    sent = []

    def send(address, state):
        assert address == ADDRESS
        sent.append((t, state))
        if fails:
            raise HeartbeatError("the monitor does not answer: no connection")

    heartbeat = Heartbeat(ADDRESS, send, lambda work: work())
    for t in times:
        heartbeat.on_step(t, installation_with(*faults), armed=False)
    return sent


def test_beats_follow_a_fixed_period():
    first = NOW + FIRST_BEAT_S
    times = (NOW, first - 0.1, first, first + 1.0, first + BEAT_S - 0.1, first + BEAT_S)
    assert beats_of(*times) == [(first, UP), (first + BEAT_S, UP)]


@pytest.mark.parametrize(
    ("faults", "state"),
    [
        ((), UP),
        (("heat", "link", "heat"), {"status": "down", "msg": "link, heat"}),
        (("texts", "journals"), {"status": "up", "msg": "texts, journals"}),
        (("texts", "card"), {"status": "down", "msg": "texts, card"}),
    ],
)
def test_state_names_the_faults_by_key(faults, state):
    assert find_state(installation_with(*faults)) == state


def test_failed_beat_is_logged_once_and_not_repeated(caplog):
    times = [NOW + n for n in range(1000)]
    assert [t - NOW for t, _ in beats_of(*times, fails=True)] == [60.0, 360.0, 660.0, 960.0]
    assert [one.message for one in caplog.records] == ["heartbeat: the monitor does not answer: no connection"]


def test_monitor_without_end_gets_no_second_beat():
    started = []
    heartbeat = Heartbeat(ADDRESS, start=started.append)
    for n in range(5):
        heartbeat.on_step(NOW + n * BEAT_S, installation_with(), armed=False)
    assert len(started) == 1


def test_failure_after_success_is_logged_again(caplog):
    answers = [True, False, True, True]

    def send(*_):
        if answers.pop():
            raise HeartbeatError("no answer")

    heartbeat = Heartbeat(ADDRESS, send, lambda work: work())
    for n in range(5):
        heartbeat.on_step(NOW + n * BEAT_S, installation_with(), armed=False)
    assert answers == []
    assert len(caplog.records) == 2


@pytest.fixture
def assembled(tmp_path):
    """Return a function that builds an installation of some settings; all is closed at the end."""
    with ExitStack() as stack:

        def assemble(toml="", **options):
            (tmp_path / "table.toml").write_text(f"[web]\nport = 0\n[exhibit]\n{toml}")
            settings = read_settings(tmp_path / "table.toml")
            return assemble_exhibit(settings, tmp_path, lambda: NOW, stack, read=lambda _: WELL, **options)

        yield assemble


@pytest.mark.parametrize(
    ("toml", "options", "count"),
    [("", {}, 0), (f'heartbeat = "{ADDRESS}"\n', {}, 1), (f'heartbeat = "{ADDRESS}"\n', {"sim": True}, 0)],
)
def test_only_the_host_switches_it_on(assembled, toml, options, count):
    assert sum(isinstance(one, Heartbeat) for one in assembled(toml, **options).observers) == count


def play(daemon, kind, seconds, choose, step_s=0.25):
    """Play a session of `kind` by touch; return the states of each step and the stages seen."""
    exhibit, states, stages = daemon.table.exhibit, [], set()
    for n in range(int(seconds / step_s)):
        t = NOW + n * step_s
        daemon.step(t)
        states.append(find_state(daemon.table))
        stages.add(exhibit.stage.name)
        wanted = {"attract": "start", "choose": f"game:{kind}"}.get(exhibit.stage.name)
        offered = [wanted] if wanted else [one for one in exhibit.touches if one != "leave"]
        if exhibit.stage.name != "result" and offered:
            exhibit.touch(t, choose(offered), exhibit.turn)
    return states, stages


@pytest.mark.parametrize("kind", [*WAYS_TO_PLAY][:: cases(3, 1)])
@pytest.mark.parametrize("choose", [min, max])
def test_beat_is_the_same_with_visitors(assembled, kind, choose):
    states, stages = play(assembled("record = true\nusage = true\nhides = 3\n"), kind, 240.0, choose)
    assert {"attract", "play", "result"} <= stages
    assert all(state == UP for state in states)


@pytest.mark.parametrize("address", ["ftp://monitor.example/", "monitor.example", "http://a b/"])
def test_other_address_is_refused(assembled, address):
    with pytest.raises(ValueError, match="heartbeat"):
        assembled(f'heartbeat = "{address}"\n')
