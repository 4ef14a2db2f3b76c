"""The staff's first hour without a shell: settings, texts, next steps, the counts as a picture, closed today."""

from datetime import date, datetime, timedelta
from html.parser import HTMLParser

import pytest
from exhibit_rig import Rig
from staff_rig import installed

from pi_controller.config import read_settings
from pi_controller.config.model import ExhibitSection
from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.exhibit import EndedSession, find_next_opening
from pi_controller.exhibit.faults import KINDS, STEPS, find_faults
from pi_controller.exhibit.health import MachineWatch, facts
from pi_controller.exhibit.host_files import TEXTS, HostFiles
from pi_controller.exhibit.page_watch import KioskWatch
from pi_controller.exhibit.screen import build_screen
from pi_controller.exhibit.self_test import GAMES, SelfTestVerdict
from pi_controller.exhibit.staff_desk import HOME
from pi_controller.exhibit.staff_setup import PATH, SETTINGS_PATH
from pi_controller.exhibit.usage import Usage
from pi_controller.host.machine_health import MachineHealth
from pi_controller.sensing.events import SensorFault, SensorFaultsChange

HOUR = 3600.0
DAY = 24 * HOUR


def version_in(client):
    return client.get(SETTINGS_PATH).text.partition('data-version="')[2].partition('"')[0]


def save(client, version=None, **changes):
    changes = {key.replace("__", "."): value for key, value in changes.items()}
    return client.post(f"{SETTINGS_PATH}/save", json={"version": version or version_in(client), "changes": changes})


# Settings.


def test_hours_sound_and_light_apply_at_once(tmp_path):
    with installed(tmp_path, file=True) as (installation, visits):
        client = visits.sign_in()
        answer = save(
            client, exhibit__opens="00:00", exhibit__closes="00:01", exhibit__dim_page=0.4, voice__volume=0.25,
            exhibit__usage=True,
        )  # fmt: skip
        assert answer.status_code == 200
        visits.until(lambda: installation.exhibit.stage.name == "rest")
        assert installation.settings.voice.volume == 0.25
        assert installation.exhibit.section.dim_page == 0.4
        installation.record_session(0.0, EndedSession("mat", "finished", 60.0, 3))
        assert installation.usage.days
    saved = read_settings(tmp_path / "table.toml")
    assert (saved.exhibit.opens, saved.exhibit.closes, saved.exhibit.usage) == ("00:00", "00:01", True)
    assert saved.voice.volume == 0.25


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("exhibit__opens", "25:00"),
        ("exhibit__opens", "09:00"),  # without an end
        ("exhibit__dim_page", 7),
        ("voice__volume", "loud"),
        ("exhibit__languages", []),
    ],
)
def test_wrong_value_names_its_field_and_is_refused(tmp_path, key, value):
    with installed(tmp_path, file=True) as (installation, visits):
        client, before = visits.sign_in(), (tmp_path / "table.toml").read_bytes()
        kept = installation.settings
        error = save(client, **{key: value}).json()["error"]
        assert error["issues"], error
        assert all(key.startswith(("exhibit.", "voice.")) for key in error["issues"])
        assert error["hint"]
        assert (tmp_path / "table.toml").read_bytes() == before
        assert installation.settings is kept


def test_settings_page_refuses_other_keys_and_other_roles(tmp_path):
    with installed(tmp_path, file=True) as (_, visits):
        head, before = visits.sign_in(), (tmp_path / "table.toml").read_bytes()
        assert save(head, web__port=1).status_code == 400
        assert save(head, exhibit__record=True).status_code == 400
        assert save(head).status_code == 409
        assert save(head, version="0" * 16, exhibit__dim_page=0.4).status_code == 409
        judge = visits.sign_in("Judge")
        assert save(judge, version_in(head), exhibit__dim_page=0.4).json()["error"]["code"] == "role"
        assert judge.get(SETTINGS_PATH).status_code == 403
        assert SETTINGS_PATH in head.get(PATH).text
        assert SETTINGS_PATH not in judge.get(PATH).text
        keeper = visits.sign_in("Keeper")
        assert keeper.get(PATH).status_code == 403
        assert keeper.post(f"{PATH}/texts", json={"texts": {"title": "x"}}).status_code == 403
        for path in (PATH, SETTINGS_PATH, f"{HOME}/problems"):
            assert visits.get(path).status_code == 401
        for path, body in (("settings/save", {"version": "x", "changes": {}}), ("texts", {"texts": {}})):
            assert visits.post(f"{PATH}/{path}", body).status_code == 401
            assert head.post(f"{PATH}/{path}", json=body, headers={"origin": "http://else.example"}).status_code == 403
        assert (tmp_path / "table.toml").read_bytes() == before


def test_without_settings_file_saving_is_refused(tmp_path):
    with installed(tmp_path) as (_, visits):
        client = visits.sign_in()
        assert "no settings file" in client.get(SETTINGS_PATH).text
        assert save(client, "x", exhibit__dim_page=0.4).json()["error"]["code"] == "missing"


# Texts.


def test_draft_is_previewed_before_it_is_published(tmp_path):
    with installed(tmp_path) as (installation, visits):
        client = visits.sign_in()
        draft = {"title": "Come in", "introduction": 'Two lines\nand "quotes" \\ <b>'}
        assert client.post(f"{PATH}/texts", json={"texts": draft}).status_code == 200
        assert "Come in" in client.get(f"{HOME}/preview/attract").text
        assert "&lt;b&gt;" in client.get(f"{HOME}/preview/about").text
        assert "Come in" not in visits.get("/").text
        assert not (tmp_path / "exhibit-texts").exists()
        assert client.post(f"{HOME}/do", json={"do": "texts"}).status_code == 200
        assert "no new texts" in client.post(f"{HOME}/do", json={"do": "texts"}).json()["error"]["message"]
        visits.until(lambda: "Come in" in visits.get("/").text)
        assert 'value="Come in"' in client.get(PATH).text
    with installed(tmp_path, people=False) as (installation, visits):
        assert installation.exhibit.host.texts.introduction == draft["introduction"]
        assert "Come in" in visits.get("/").text


def test_second_draft_keeps_texts_of_first(tmp_path):
    host = HostFiles(tmp_path, optional=True)
    host.propose({"title": "First"})
    host.propose({"credits": "Second"})
    assert (host.draft.texts.title, host.draft.texts.credits) == ("First", "Second")


@pytest.mark.parametrize(
    "content", [b"", b"\xef\xbb\xbf", b'\xef\xbb\xbftitle = "Host"\r\n'], ids=["empty", "mark", "windows"]
)
def test_every_file_that_is_read_can_be_edited(tmp_path, content):
    (tmp_path / TEXTS).write_bytes(content)
    host = HostFiles(tmp_path)
    assert not host.fault
    host.propose({"title": "New"})
    host.publish()
    assert HostFiles(tmp_path).texts.title == "New"


def test_a_draft_can_be_discarded(tmp_path):
    with installed(tmp_path) as (installation, visits):
        client = visits.sign_in()
        assert client.post(f"{PATH}/texts", json={"texts": {"title": "No"}}).status_code == 200
        assert client.post(f"{HOME}/do", json={"do": "drop"}).status_code == 200
        assert installation.exhibit.host.draft is None
        assert list(tmp_path.glob("exhibit-texts/*")) == []


@pytest.mark.parametrize("texts", [{"title": "x" * 161}, {"title": "bell\x07"}, {"title": "ok", "credits": "\u202e"}])
def test_invalid_text_names_its_field_and_is_refused(tmp_path, texts):
    with installed(tmp_path) as (installation, visits):
        answer = visits.sign_in().post(f"{PATH}/texts", json={"texts": texts})
        assert answer.status_code in (400, 409)
        if answer.status_code == 409:
            assert set(answer.json()["error"]["issues"]) == {list(texts)[-1]}
        assert installation.exhibit.host.draft is None


def test_other_parts_and_comments_of_the_file_stay(tmp_path):
    (tmp_path / TEXTS).write_text('# ours\ntitle = "Old"\n\n[[stories]]\ntitle = "A story"\nteller = "T"\ntext = "x"\n')
    host = HostFiles(tmp_path)
    host.propose({"title": "New", "credits": "Us"})
    assert host.texts.title == "Old"
    host.publish()
    text = (tmp_path / TEXTS).read_text("utf-8")
    assert "# ours" in text
    again = HostFiles(tmp_path)
    assert (again.texts.title, again.texts.credits, again.texts.stories[0].teller) == ("New", "Us", "T")
    assert 'title = "Old"' in (tmp_path / f"{TEXTS}.before").read_text("utf-8")


def test_proposal_replaces_broken_file_with_last_good_texts(tmp_path):
    (tmp_path / TEXTS).write_text('title = "Good"\n')
    host = HostFiles(tmp_path)
    (tmp_path / TEXTS).write_text("titel")
    host.reload()
    assert host.fault
    host.propose({"credits": "Us"})
    host.publish()
    assert host.fault == ""
    assert HostFiles(tmp_path).texts.title == "Good"


def test_unwritable_texts_are_reported_and_not_published(tmp_path):
    (tmp_path / "exhibit-texts").write_text("a file in the way")
    with installed(tmp_path) as (installation, visits):
        client = visits.sign_in()
        assert client.post(f"{PATH}/texts", json={"texts": {"title": "New"}}).status_code == 200
        error = client.post(f"{HOME}/do", json={"do": "texts"}).json()["error"]
        assert "cannot be saved" in error["message"]
        assert error["hint"]
        assert installation.exhibit.host.texts.title == ""


# What is wrong and what to do.


def test_every_fault_has_its_next_step():
    rig = Rig(mat="sensors")
    rig.exhibit.host.fault = rig.exhibit.fault = "x"
    rig.exhibit.clock_set = False
    rig.exhibit.handle_mat_event(0.0, SensorFaultsChange(0.0, (SensorFault("disc", 3, "no signal"),)))
    bad = MachineHealth(90.0, under_voltage=True, under_voltage_since_start=True, free_bytes=1, fs_errors=2)
    watch = MachineWatch(lambda _: bad)
    watch.check(0.0)
    screen = KioskWatch(lambda: 1, lambda: None)
    screen.restarts, screen.given_up = [0.0], True
    verdict = SelfTestVerdict(
        0.0, tuple(GAMES.fails(name, "x") for name in ("loudspeaker", "writing", "recorded game"))
    )
    machine = [*facts(watch, ENGLISH), *screen.facts(ENGLISH)]
    found = find_faults(rig.exhibit, machine, verdict, 2, "x", ENGLISH)
    assert {one.kind for one in found} == set(KINDS) - {"settings"}, "the last one is the card's"
    assert [one.kind for one in found].count("card") == 2, "by the file system, and by the self-test"
    assert all(one.message and one.step == STEPS[one.kind][1] for one in found)


# Closed today.


@pytest.mark.parametrize(
    ("now", "until_"),
    [
        ("2026-05-03T10:00", "2026-05-04T09:00"),
        ("2026-05-03T07:00", "2026-05-04T09:00"),
        ("2026-05-03T19:00", "2026-05-04T09:00"),
    ],
)
def test_closed_today_lasts_until_the_next_day_opens(now, until_):
    section = ExhibitSection(opens="09:00", closes="17:00")
    assert find_next_opening(section, datetime.fromisoformat(now)) == datetime.fromisoformat(until_)


def test_a_night_club_opens_again_the_same_day():
    section = ExhibitSection(opens="18:00", closes="02:00")
    found = find_next_opening(section, datetime.fromisoformat("2026-05-03T01:00"))
    assert found == datetime.fromisoformat("2026-05-03T18:00")


def test_close_today_waits_for_game_and_reopens_automatically():
    rig = Rig(t=10 * HOUR, opens="09:00", closes="17:00")
    rig.begin("mat")
    rig.exhibit.close_today(rig.t)
    assert rig.stage == "play"
    rig.advance(120)
    assert rig.stage == "rest"
    sign = build_screen(rig.exhibit).lead
    rig.t = DAY + 8 * HOUR
    rig.advance(1)
    assert rig.stage == "rest"
    rig.t = DAY + 9 * HOUR
    rig.advance(1)
    assert rig.stage == "attract"
    plain = Rig(t=3 * HOUR, opens="09:00", closes="17:00")
    assert sign != build_screen(plain.exhibit).lead


def test_close_today_survives_restart_until_reopened(tmp_path):
    with installed(tmp_path) as (installation, visits):
        client = visits.sign_in()
        assert client.post(f"{HOME}/do", json={"do": "close"}).status_code == 200
        assert installation.exhibit.stage.name == "rest"
        assert 'data-do="open"' in client.get(HOME).text
    with installed(tmp_path, people=False) as (installation, visits):
        visits.until(lambda: installation.exhibit.stage.name == "rest")
        assert visits.sign_in().post(f"{HOME}/do", json={"do": "open"}).status_code == 200
        assert installation.exhibit.stage.name == "attract"
    with installed(tmp_path, people=False) as (installation, _):
        assert installation.exhibit.stage.name == "attract"


# The counts as a picture.


def test_bars_cover_calendar_days_and_parts_add_up():
    usage = Usage(None)
    usage.days = {
        "2026-05-03": {"sessions": 4, "mat": 1, "teams": 2, "learn": 1},
        "2026-05-01": {"sessions": 2, "mat": 2, "teams": 0, "learn": 0},
    }
    bars = usage.bars(date(2026, 5, 3), 3)
    assert [(bar.day, bar.total) for bar in bars] == [("2026-05-01", 2), ("2026-05-02", 0), ("2026-05-03", 4)]
    assert [sum(height for *_, height in bar.parts) for bar in bars] == [50.0, 0.0, 100.0]
    assert usage.bars(date(2026, 5, 3) - timedelta(days=30), 3) == ()


class Drawn(HTMLParser):
    """Collects the attributes of the picture's shapes, and what a page would load."""

    def __init__(self):
        super().__init__()
        self.shapes, self.loaded = [], []

    def handle_starttag(self, tag, attrs):
        if tag == "rect":
            self.shapes.append(dict(attrs))
        self.loaded += [value for name, value in attrs if name in ("src", "href") and "//" in (value or "")]


def test_usage_chart_separates_kinds_and_loads_no_resources(tmp_path):
    with installed(tmp_path, toml="usage = true\n") as (installation, visits):
        for kind in ("mat", "teams", "teams", "learn"):
            installation.record_session(visits.clock(), EndedSession(kind, "finished", 60.0, 3))
        client = visits.sign_in()
        visits.until(lambda: "<svg" in client.get(HOME).text)
        drawn = Drawn()
        drawn.feed(client.get(HOME).text)
        assert client.get(f"{HOME}/usage.csv").text.splitlines()[1].split(",")[1:5] == ["4", "1", "2", "1"]
    bars = {shape["class"]: float(shape["height"]) for shape in drawn.shapes if shape.get("x") == "3"}
    assert bars == {"mat": 25.0, "teams": 50.0, "learn": 25.0}
    assert drawn.loaded == []
