"""Table and hub over a real line with TLS: all arrives, however the line or either end fails."""

import ssl
from contextlib import closing

import httpx
import pytest
from cuttable_line import BOTH, DOWN, UP, CuttableLine
from hub_files import HOSTS, reach, store_of, write_hub
from hub_site import certify
from linked_table import LinkedTable
from patience import until
from real_hub import RealHub

from pi_controller.hub import table_link
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import RECORDS_PATH, TableReport, encode
from pi_controller.hub.settings import load_hub
from pi_controller.journal import file

PATH = RECORDS_PATH.format(table="t01")


@pytest.fixture
def folder(tmp_path):
    """Return the files of a hub with the table t01."""
    return write_hub(tmp_path / "hub", ["t01"])


def stored(path):
    with closing(file.open_read_only(path)) as db:
        return list(file.rows(db))


def await_records(folder, table):
    """Wait until the hub has the table's journal, and has it unchanged."""
    with Inbox(store_of(folder)) as inbox:
        until(lambda: inbox.record_counts().get("t01", {}).get(table.epoch) == table.journal.seq)
        assert list(inbox.rows("t01", table.epoch)) == stored(table.path)
        assert inbox.alarms() == []


@pytest.mark.parametrize("fault", ["cut", "silent", UP, DOWN])
def test_game_arrives_after_the_line_failed(tmp_path, folder, monkeypatch, fault):
    monkeypatch.setattr(table_link, "TIMEOUT_S", 0.3)
    with closing(RealHub(folder)), closing(CuttableLine(load_hub(folder).page.https)) as line:
        table = LinkedTable(tmp_path / "table.sqlite", "t01", lambda: reach(folder, "t01", line.port))
        with closing(table):
            table.do("toss A", "found")
            await_records(folder, table)
            before = line.connections
            line.silent = BOTH if fault == "silent" else frozenset({fault} & BOTH)
            if fault == "cut":
                line.cut()
            table.do("found", "missed")
            until(lambda: line.connections > before)
            line.silent = frozenset()
            table.do("found")
            await_records(folder, table)


def test_reports_share_one_connection(tmp_path, folder):
    with closing(RealHub(folder)), closing(CuttableLine(load_hub(folder).page.https)) as line:
        table = LinkedTable(tmp_path / "table.sqlite", "t01", lambda: reach(folder, "t01", line.port))
        with closing(table):
            for word in ("toss A", "found", "found"):
                table.do(word)
                await_records(folder, table)
        assert line.connections == 1


@pytest.mark.slow
def test_closing_table_does_not_wait_for_silent_hub(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(table_link, "CLOSING_S", 0.2)
    with closing(RealHub(folder)), closing(CuttableLine(load_hub(folder).page.https)) as line:
        table = LinkedTable(tmp_path / "table.sqlite", "t01", lambda: reach(folder, "t01", line.port))
        await_records(folder, table)
        line.silent = BOTH
        table.close()
        assert table.link._thread.is_alive(), "it still waits for an answer, and holds up nobody"
        line.cut()
        table.link._thread.join(60.0)
        assert not table.link._thread.is_alive()


def test_table_sends_no_token_to_other_certificate(tmp_path, folder, caplog):
    other = certify(tmp_path / "other")
    with closing(RealHub(folder)) as hub:
        table = LinkedTable(tmp_path / "t.sqlite", "t01", lambda: reach(folder, "t01", ca=other / "ca.crt"))
        with closing(table):
            until(lambda: "no connection to the hub" in caplog.text)
        assert "certificate verify failed" in caplog.text
        assert hub.run.director._inbox.record_counts() == {}


@pytest.mark.parametrize("host", HOSTS)
def test_certificate_holds_for_each_host(folder, host):
    trusted = ssl.create_default_context(cafile=folder / "ca.crt")
    token = (folder / "t01.token").read_text()
    with closing(RealHub(folder)), httpx.Client(verify=trusted, headers={"authorization": f"Bearer {token}"}) as web:
        url = f"https://{host}:{load_hub(folder).page.https}{PATH}"
        assert web.post(url, content=encode(TableReport("a"))).status_code == 200
