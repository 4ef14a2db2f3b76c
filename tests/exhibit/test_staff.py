"""The staff page: behind a sign-in, about the installation alone, reached by a long press on the screen's corner."""

import io
import json
import re
import zipfile
from datetime import datetime
from functools import partial

from exhibit_rig import Rig, at
from memory_sound import MemorySound
from staff_rig import PIN, installed
from visit import together

from pi_controller import __version__
from pi_controller.cli.tables import _report as exhibit_report
from pi_controller.config.model import VoiceSection
from pi_controller.exhibit.exhibit import EndedSession
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.staff_desk import HOME, NOTICE, READY_NOTICES, build_staff_view
from pi_controller.exhibit.usage import Usage
from pi_controller.host.machine_health import MachineHealth
from pi_controller.host.place import KEYS_CHANGED, SET_CLOCK_REQUEST, Place
from pi_controller.sensing.events import Link, SensorFault, SensorFaultsChange
from pi_controller.web.users import FILE

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_sign_in_before_pin_setup_is_refused(tmp_path):
    with installed(tmp_path, people=False) as (_, visits):
        page = visits.get(HOME)
        assert page.status_code == 200
        assert "new-head" in page.text
        assert "Problems" not in page.text
        tried = visits.post(f"{HOME}/sign-in", {"name": "Head", "pin": "000000"})
        assert tried.status_code == 401
        assert not (tmp_path / FILE).exists()


def test_notice_is_set_lifted_and_survives_restart(tmp_path):
    with installed(tmp_path) as (installation, visits):
        staff = visits.sign_in()
        assert staff.post(f"{HOME}/do", json={"do": "notice", "notice": READY_NOTICES[0]}).status_code == 200
        assert installation.exhibit.stage.name == "notice"
        assert READY_NOTICES[0] in staff.get(HOME).text
        assert READY_NOTICES[0] in visits.get("/").text
    with installed(tmp_path, people=False) as (installation, visits):
        assert installation.exhibit.notice == READY_NOTICES[0]
        staff = visits.sign_in()
        assert staff.post(f"{HOME}/do", json={"do": "notice", "notice": ""}).status_code == 200
        assert installation.exhibit.stage.name == "attract"
    assert NOTICE not in READY_NOTICES
    assert not (tmp_path / ".exhibit-notice").exists()


def test_the_staff_ends_a_session(tmp_path):
    with installed(tmp_path) as (installation, visits):
        assert visits.post("/touch", {"do": "start", "turn": installation.exhibit.turn})
        visits.until(lambda: installation.exhibit.stage.name == "choose")
        assert visits.sign_in().post(f"{HOME}/do", json={"do": "end"}).status_code == 200
        assert installation.exhibit.stage.name == "attract"


def test_staff_page_lists_machine_health(tmp_path):
    now = MachineHealth(68.2, under_voltage=False, under_voltage_since_start=True, free_bytes=91 * 10**8, fs_errors=3)
    with installed(tmp_path, read=lambda _: now) as (_, visits):
        staff = visits.sign_in()
        page = staff.get(HOME).text
        for shown in ("68 °C", "was too weak", "9.1 GB free", "3 reported by the file system"):
            assert shown in page


def test_test_sound_plays_and_page_reports_failure(tmp_path):
    sound = MemorySound(lambda: visits.clock())  # noqa: PLW0108 - there are no visits yet
    with installed(tmp_path, sound=sound) as (_, visits):
        client = visits.sign_in()
        for fails in ("", "the loudspeaker is <gone>"):
            sound.fails = fails
            assert client.post(f"{HOME}/do", json={"do": "sound"}).status_code == 200
            (found,) = re.findall(r'<h2>Loudspeaker</h2><p(?: class="far")?>(.*?)</p>', client.get(HOME).text)
            assert ("&lt;gone&gt;" in found) == bool(fails)
    ((_, _, gain),) = sound.played
    assert gain == VoiceSection().volume


def test_clock_request_is_written_in_local_time(tmp_path, monkeypatch):
    run = tmp_path / "run"
    run.mkdir()
    with installed(tmp_path) as (_, visits):
        client = visits.sign_in()

        def answer(now):
            return client.post(f"{HOME}/do", json={"do": "clock", "now": now}).status_code

        assert answer("2026-11-23T14:05") != 200, "no service of the system's, so nobody takes the request"
        monkeypatch.setenv("RUNTIME_DIRECTORY", str(run))
        assert {answer(wrong) for wrong in ("now", "2026-13-40T00:00", "2026-11-23T14:05Z", "")} == {400}
        assert list(run.iterdir()) == []
        assert answer("2026-11-23T14:05") == 200
    asked = int((run / SET_CLOCK_REQUEST).read_text("utf-8"))
    assert datetime.fromtimestamp(asked).astimezone().isoformat()[:16] == "2026-11-23T14:05"


def test_changed_keys_are_listed_until_staff_confirms(tmp_path):
    changes, name = tmp_path / "key-changes", "SHA256:abc (laptop)"
    changes.write_text(f"2026-11-23 12:00: {name} may log in from now on\n", "utf-8")

    def is_told(rig, client):
        return [name in client.get(HOME).text, "keys on this machine" in client.get("/").text]

    with installed(tmp_path, keys=changes) as (rig, visits):
        client = visits.sign_in()
        assert is_told(rig, client) == [True, True]
        assert name not in client.get("/").text, "visitors are not told which"
        assert client.post(f"{HOME}/do", json={"do": "keys"}).status_code == 200
        visits.until(lambda: is_told(rig, client) == [False, False])
    with installed(tmp_path, people=False, keys=changes) as (rig, visits):
        assert is_told(rig, visits.sign_in()) == [False, False], "also after a restart"
    with changes.open("a", encoding="utf-8") as file:
        file.write("2026-11-24 12:00: SHA256:def (visitor) may log in from now on\n")
    with installed(tmp_path, people=False, keys=changes) as (rig, visits):
        page = visits.sign_in().get(HOME).text
        assert "SHA256:def (visitor)" in page
        assert name not in page


def test_unset_clock_is_reported_and_hours_are_ignored(tmp_path):
    rig = Rig(t=9 * 3600.0, opens="10:00", closes="17:00")
    assert rig.stage == "rest"
    rig.exhibit.clock_set = False
    rig.advance(1.0)
    assert rig.stage == "attract"
    assert any("clock is not set" in one.message for one in shown(rig).faults)
    rig.exhibit.clock_set = True
    rig.advance(1.0)
    assert rig.stage == "rest"
    assert not any("clock is not set" in one.message for one in shown(rig).faults)


def test_preview_shows_texts_and_pictures_to_staff_alone(tmp_path):
    (tmp_path / "texts.toml").write_text('title = "First"\npicture = "house.png"\n')
    (tmp_path / "house.png").write_bytes(PNG)
    with installed(tmp_path, toml='folder = "."\n') as (_, visits):
        staff = visits.sign_in()
        shown = staff.get(f"{HOME}/preview/attract").text
        assert "First" in shown
        assert "/host/house.png" in shown
        assert visits.get("/host/house.png").content == PNG
        assert visits.get(f"{HOME}/preview/attract").status_code == 401
        assert staff.get(f"{HOME}/preview/play").status_code == 404
        assert 'src="/host/house.png"' in staff.get(HOME).text


def test_actions_without_staff_role_are_refused(tmp_path):
    with installed(tmp_path) as (installation, visits):
        notice = {"do": "notice", "notice": "x"}
        assert visits.post(f"{HOME}/do", notice).status_code == 401
        assert visits.get(f"{HOME}/usage.csv").status_code == 401
        assert "Problems" not in visits.get(HOME).text
        keeper = visits.sign_in("Keeper")
        assert keeper.post(f"{HOME}/do", json=notice).status_code == 403
        assert "Problems" not in keeper.get(HOME).text
        head = visits.sign_in()
        assert head.post(f"{HOME}/do", json=notice, headers={"origin": "http://elsewhere.example"}).status_code == 403
        for wrong in ({"do": "play"}, {"do": "notice"}, {"do": "notice", "notice": "x" * 301}, {"do": "end", "at": 1}):
            assert head.post(f"{HOME}/do", json=wrong).status_code == 400
        assert head.post(f"{HOME}/sign-out", json={}).status_code == 200
        assert head.post(f"{HOME}/do", json=notice).status_code == 401
        assert installation.exhibit.notice == ""


def test_usage_is_exported_if_counting_is_on(tmp_path):
    with installed(tmp_path, toml="usage = true\n") as (installation, visits):
        installation.record_session(0.0, EndedSession("mat", "finished", 61.4, 7))
        staff = visits.sign_in()
        visits.until(lambda: ",1,1,0,0,1,0,0,0,7,61" in staff.get(f"{HOME}/usage.csv").text)
        assert "<td>61</td>" in staff.get(HOME).text
    other = tmp_path / "other"
    other.mkdir()
    with installed(other) as (_, visits):
        staff = visits.sign_in()
        assert staff.get(f"{HOME}/usage.csv").text == ""
        assert "Counting sessions is switched off" in staff.get(HOME).text


def test_report_names_faults_without_personal_data(tmp_path, monkeypatch):
    monkeypatch.setattr(Place, "state", tmp_path / "state")
    (tmp_path / "state").mkdir()
    (tmp_path / "state/warnings.log").write_text("2025-11-24 16:00:00 kernel: mmc0: timeout, at Our Hall\n", "utf-8")
    toml = '[table]\nname = "Our Hall"\n[teams]\na = "Big Coulee"\n'
    now = MachineHealth(68.2, under_voltage=True, under_voltage_since_start=True, free_bytes=91 * 10**8, fs_errors=3)
    report = partial(exhibit_report, tmp_path / "table.toml")
    (tmp_path / "faults").write_text("table.toml:4: [web] port: must be a number, not 's3cret'\n", "utf-8")
    monkeypatch.setattr("pi_controller.exhibit.staff_desk.CARD_FAULTS", tmp_path / "faults")
    with installed(tmp_path, toml=toml, read=lambda _: now, report=report) as (_, visits):
        staff = visits.sign_in()
        page = staff.get(HOME).text
        assert "/staff/report.zip" in page
        assert "s3cret" in page, "the staff can correct it"
        answer = staff.get(f"{HOME}/report.zip")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert "mmc0: timeout" in files["warnings.log"]
    assert "too weak now (wrong)" in files["installation.txt"]
    assert json.loads(files["report.json"])["versions"]["moccasin-mat"] == __version__
    assert "table.toml:4: [web] port" in files["installation.txt"]
    everything = "".join(files.values())
    for secret in ("Our Hall", "Big Coulee", "s3cret", PIN, "Head", "Keeper", "argon2"):
        assert secret not in everything, secret


def test_changed_keys_are_not_listed_among_card_faults(tmp_path, monkeypatch):
    changed = "2026-11-23 12:00: SHA256:abc (ann) may log in from now on"
    (tmp_path / "keys").write_text(f"{changed}\n", "utf-8")
    told = f"machine.toml was not taken\n{KEYS_CHANGED} If you did not, somebody else did:\n{changed}\n"
    (tmp_path / "faults").write_text(told, "utf-8")
    monkeypatch.setattr("pi_controller.exhibit.staff_desk.CARD_FAULTS", tmp_path / "faults")
    with installed(tmp_path, keys=tmp_path / "keys") as (installation, visits):
        assert "machine.toml was not taken" in visits.sign_in().get(HOME).text
        assert not any(
            "SHA256" in one.message or KEYS_CHANGED in one.message for one in installation.staff.page.shown.faults
        )


def test_the_report_is_for_judges_alone(tmp_path):
    made = []
    with installed(tmp_path, report=lambda told: made.append(told) or b"PK") as (_, visits):
        assert visits.get(f"{HOME}/report.zip").status_code == 401
        assert visits.sign_in("Keeper").get(f"{HOME}/report.zip").status_code == 403
        assert not made
        assert visits.sign_in().get(f"{HOME}/report.zip").content == b"PK"
    (tmp_path / "other").mkdir()
    with installed(tmp_path / "other") as (_, visits):
        staff = visits.sign_in()
        assert staff.get(f"{HOME}/report.zip").status_code == 404
        assert "report.zip" not in staff.get(HOME).text


def test_one_report_is_made_at_a_time(tmp_path):
    with installed(tmp_path, report=lambda _: b"PK") as (_, visits):
        clients = visits.sign_in(), visits.sign_in()
        visits.loop.work_s = 1.0
        answers = together(*[(client, client.build_request("GET", f"{HOME}/report.zip")) for client in clients])
    made, refused = sorted(answers, key=lambda answer: answer.status_code)
    assert made.content == b"PK"
    assert refused.json()["error"]["code"] == "busy"


def shown(rig):
    return build_staff_view(rig.exhibit, rig.settings, at, 0.0, Usage(None))


def test_faults_of_sensors_texts_and_recording_are_listed(tmp_path):
    rig = Rig(mat="sensors", record=True, folder=tmp_path / "not there")
    assert "does not respond" in " ".join(one.message for one in shown(rig).faults)
    rig.exhibit.handle_mat_event(0.0, Link(0.0, up=True))
    rig.exhibit.handle_mat_event(0.0, SensorFaultsChange(0.0, (SensorFault("disc", 3, "no signal"),)))
    assert [(one.kind, one.message) for one in shown(rig).faults] == [
        ("sensors", "Pad 3: a sensor is faulty (no signal)")
    ]
    rig.begin("mat")
    rig.exhibit.host = HostFiles(tmp_path / "no texts either")
    texts, recording, _ = (one.message for one in shown(rig).faults)
    assert "texts.toml" in texts
    assert "not recorded" in recording


def test_it_is_the_same_wherever_the_bead_is():
    pictures = []
    for pad in (1, 2, 3, 4):
        rig = Rig(1)
        rig.begin("teams")
        rig.awaits("pads")
        rig.touch(f"pad:{pad}")
        seen = []
        while rig.game.awaits != "handover":
            seen.append(shown(rig))
            rig.advance(0.25)
        rig.touch("handover")
        seen.append(shown(rig))
        pictures.append(seen)
    assert len(pictures[0]) > 5
    assert all(one == pictures[0] for one in pictures)
