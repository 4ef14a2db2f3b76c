"""The file by which avahi-daemon announces the pages: where the settings say so, well-formed whatever the name."""

from xml.etree import ElementTree as ET

import pytest

from pi_controller.card.avahi import DAEMON, FILE, announcement_text, plan_announcement
from pi_controller.config import Settings
from pi_controller.host.place import make_place


def asked(root, *, system=True, table="Table 1", **web):
    settings = Settings.model_validate({"table": {"name": table}, "web": {"announce": True, "host": "0.0.0.0", **web}})
    return plan_announcement(make_place(system=system, root=root), settings)


def test_service_announces_name_type_and_port(pi):
    root = pi()
    (file,), notes = asked(root, port=8181)
    assert file.path == FILE
    assert notes == ["to announce the pages: sudo apt install avahi-daemon"]
    group = ET.fromstring(file.text)
    assert group.tag == "service-group"
    assert group.findtext("name") == "Moccasin Mat, Table 1"
    assert (group.findtext("service/type"), group.findtext("service/port")) == ("_http._tcp", "8181")
    (root / DAEMON.relative_to("/")).parent.mkdir(parents=True)
    (root / DAEMON.relative_to("/")).touch()
    assert asked(root)[1] == []


@pytest.mark.parametrize("name", ["<A> & </name>", "]]>", "é" * 60, "日本語" * 20, "%h"])
def test_any_name_is_text_and_fits(name):
    text = ET.fromstring(announcement_text(name, 80)).findtext("name")
    assert f"Moccasin Mat, {name}".startswith(text)
    assert 20 < len(text.encode()) + 5 <= 68 or text.endswith(name)


@pytest.mark.parametrize("web", [{"host": "127.0.0.1"}, {"port": 0}, {"enabled": False}])
def test_unreachable_page_is_not_announced(pi, web):
    files, notes = asked(pi(), **web)
    assert files == []
    assert "nothing is announced" in notes[0]


def test_announce_off_writes_no_file_and_names_leftover(pi):
    root = pi()
    assert asked(root, announce=False) == ([], [])
    (root / FILE.relative_to("/")).parent.mkdir(parents=True)
    (root / FILE.relative_to("/")).write_text("x")
    assert "remove it" in asked(root, announce=False)[1][0]


def test_a_users_own_service_cannot(pi):
    files, notes = asked(pi(), system=False)
    assert files == []
    assert "sudo" in notes[0]
