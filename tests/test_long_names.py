"""A name of 60 characters goes whole from the settings to the results; each entrance refuses one of 61."""

import io
import re
import zipfile
from pathlib import Path
from unicodedata import normalize

import pytest
from hub_site import Site
from long_names import LONG_NAMES
from seats import sit

import pi_controller
from pi_controller.config.load import read_settings
from pi_controller.errors import MatError
from pi_controller.hub.messages import MessageError, Order, decode, encode
from pi_controller.journal.journal import Journal
from pi_controller.journal.read_record import read_journal_record
from pi_controller.record.file import read
from pi_controller.record.model import Record, RecordError
from pi_controller.record.writing import write
from pi_controller.referee.judge import JudgeAction, JudgeTeams
from pi_controller.rules import registry
from pi_controller.rules.base import InvalidActionError
from pi_controller.web.requests import MAX_BODY_BYTES

REFUSED = "1 to 60 characters"
PARTS = normalize("NFD", LONG_NAMES["spaces"])
TOO_LONG = LONG_NAMES["spaces"] + "s"


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path)
    made.sign_in()
    yield made
    made.close()


def decide(site, **fact):
    answer = site.decide(**fact)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("written", [*LONG_NAMES.values(), PARTS], ids=[*LONG_NAMES, "parts"])
def test_a_name_of_60_characters_stays_whole(tmp_path, site, written):
    whole, other = normalize("NFC", written), "Long Hollow"
    settings = tmp_path / "mat.toml"
    settings.write_text(f'[table]\nname = "{written}"\n[teams]\na = "{written}"\nb = "{other}"\n', "utf-8")
    chosen = read_settings(settings)
    assert (chosen.table.name, chosen.teams.a) == (whole, whole)

    with Journal(tmp_path / "table.sqlite") as journal:
        table = sit(journal, teams={"A": chosen.teams.a, "B": chosen.teams.b})
        assert table.view.teams["A"] == whole
        table.judge(JudgeTeams(1.0, other, written))
        table.judge(JudgeAction(2.0, {"do": "forfeit", "by": "A"}))
        order = decode(encode(Order("o1", "t", "W1-1", "dakota", "1", teams={"A": whole, "B": other})), Order)
        assert order.teams["A"] == whole
    with Journal(tmp_path / "table.sqlite") as journal:
        assert sit(journal, teams={"A": "A", "B": "B"}).view.teams == {"A": other, "B": whole}

    record = read_journal_record(str(tmp_path / "table.sqlite"))
    again = read(write(record).encode())
    assert (again, again.faults, again.teams["B"]) == (record, [], whole)

    judge, players = whole[::-1].strip(), [f"{number}{whole[1:]}" for number in range(5)]
    decide(site, do="plan", title="Wacipi", options={"points": "2"})
    decide(site, do="enter", teams=[{"name": written, "players": players}, {"name": other}])
    decide(site, do="appoint", judges=[judge])
    decide(site, do="draw", order=[whole, other])
    decide(site, do="result", match="W1-1", winner=whole)
    now = site.director.now
    assert (now.entered, now.registration.teams[whole]) == ((whole, other), tuple(players))
    for path in ("results", "bracket", "start-list", "hall"):
        assert whole in site.web.get(f"/{path}").text
    with zipfile.ZipFile(io.BytesIO(site.web.get("/director/results.zip").content)) as results:
        assert any(whole in results.read(name).decode("utf-8", "ignore") for name in results.namelist())
    added = site.web.post("/director/people", json={"do": "add", "name": written, "role": "judge"}).json()
    assert added["name"] == whole


def test_a_seeding_of_many_long_names_is_read(site):
    teams = [f"{number:03}{LONG_NAMES['syllabics'][3:]}" for number in range(120)]
    assert sum(len(team.encode()) for team in teams) > MAX_BODY_BYTES
    decide(site, do="plan", title="Wacipi")
    answer = site.web.post("/director/teams", content="\n".join(teams).encode())
    assert answer.status_code == 200, answer.text
    decide(site, do="draw", order=teams)
    assert site.director.now.entered == tuple(teams)


def settings_error(folder):
    path = folder / "mat.toml"
    path.write_text(f'[teams]\na = "{TOO_LONG}"\n', "utf-8")
    read_settings(path)


def judge_error(folder):
    with Journal(folder / "j.sqlite") as journal:
        sit(journal, teams={"A": "A", "B": "B"}).judge(JudgeTeams(1.0, TOO_LONG, "B"))


def export_error(folder):
    with Journal(folder / "j.sqlite") as journal:
        table = sit(journal, teams={"A": TOO_LONG, "B": "B"})
        table.judge(JudgeAction(1.0, {"do": "toss", "winner": "A"}))
    read_journal_record(str(folder / "j.sqlite"))


@pytest.mark.parametrize(
    ("entrance", "error"),
    [
        (settings_error, MatError),
        (judge_error, InvalidActionError),
        (export_error, RecordError),
        (lambda _: Record("dakota", teams={"A": TOO_LONG}), RecordError),
        (lambda _: registry.game("patol", {"players": f"{TOO_LONG},Ana"}), MatError),
    ],
)
def test_a_name_of_61_characters_is_refused(tmp_path, entrance, error):
    with pytest.raises(error) as caught:
        entrance(tmp_path)
    assert REFUSED in f"{caught.value.message} {caught.value.hint}"


def test_a_longer_name_in_an_order_is_refused():
    order = encode(Order("o1", "t", "W1-1", "dakota", "1", teams={"A": TOO_LONG, "B": "B"}))
    with pytest.raises(MessageError, match=r"60.*teams"):
        decode(order, Order)


def test_too_long_team_name_is_omitted_and_listed():
    record = read(f"Game: dakota\nTeam A: {TOO_LONG}\nTeam B: kept\ntoss A\n".encode())
    assert dict(record.teams) == {"B": "kept"}
    assert next((fault.line, REFUSED in fault.message) for fault in record.faults) == (2, True)


def test_longer_names_are_refused_by_the_hubs_forms(site):
    decide(site, do="plan", title="Wacipi")
    answers = [
        site.decide(do="enter", teams=[{"name": TOO_LONG}]),
        site.decide(do="enter", teams=[{"name": "Red", "players": [TOO_LONG]}]),
        site.decide(do="appoint", judges=[TOO_LONG]),
        site.web.post("/director/teams", content=TOO_LONG.encode()),
        site.web.post("/director/people", json={"do": "add", "name": TOO_LONG, "role": "judge"}),
    ]
    assert {answer.status_code >= 400 for answer in answers} == {True}
    assert {REFUSED in answer.json()["error"]["message"] for answer in answers} == {True}
    assert site.director.now.entered == ()


def test_no_field_cuts_a_pasted_name():
    fields = []
    for path in Path(pi_controller.__file__).parent.rglob("*"):
        if path.suffix in {".html", ".js"}:
            fields += re.findall(r'<input name="(?:name|team|judge)"[^>]*>', path.read_text("utf-8"))
            fields += re.findall(r"id: [`\"](?:teams-|people-name)[^}]*(?:\}`[^}]*)?\}", path.read_text("utf-8"))
    assert len(fields) >= 5
    assert not [field for field in fields if "maxlength" in field]
