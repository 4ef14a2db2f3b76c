"""The hub's programs as they are started by hand, killed at random, under load and under attack."""

import json
import random
import re
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import closing, suppress

import pytest
from hub_files import store_of
from hub_process import HubProcess
from inbox_messages import A, records
from load_file import load_file
from needed import need
from patience import until
from ports import free_port
from postgres import BIN, server_of

from pi_controller.display.i18n import ENGLISH
from pi_controller.host.files import write_private_file
from pi_controller.hub.hub import TableStatus
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import MessageError, decode_view
from pi_controller.hub.store import HANGING_S
from pi_controller.hub.table_cards import format_judge_requests, tables_markup
from pi_controller.hub.tokens import Tokens

chaos, hostile, load = (load_file(f"tests/tools/hub_{name}.py") for name in ("chaos", "hostile", "load"))
DEMO = [sys.executable, "-m", "pi_controller", "hub", "demo"]
RATE = 30


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_kills_lose_and_duplicate_no_record(tmp_path):
    kinds = chaos.kinds_of(None)
    figures = chaos.chaos(tmp_path, tables=2, kills=len(kinds), every_s=0.1, seed=2)
    assert chaos.whole(figures), figures
    assert figures["kills"].keys() == {*kinds}
    assert figures["matches"] > 0
    assert figures["records"] > 0


@pytest.mark.timeout(600)
@pytest.mark.slow
@pytest.mark.parametrize("stop", [False, True])
def test_second_hub_directs_when_first_dies_or_hangs(tmp_path, stop):
    """Two real hubs on one PostgreSQL, while tables play."""
    need(BIN, "PostgreSQL is not installed: apt install postgresql")
    kind = "hub stop" if stop else "hub"
    with server_of("postgresql") as server, closing(chaos.Hall(tmp_path, 2, 0.1, server)) as hall:
        until(lambda: len(chaos.received_tables(hall.where)) == 2)
        until(lambda: chaos.directs(hall.hubs[0]))
        for _ in range(2):
            hall.kill(kind, "t01", stopped_s=10.0)
            until(lambda: chaos.directs(hall.hubs[0]) and not chaos.directs(hall.hubs[1]))
        took, kept = hall.takeovers_s["stopped" if stop else "killed"], chaos.journals(tmp_path, hall.names)
        assert len(took) == 2
        assert max(took) <= chaos.MAX_TAKEOVER_S + stop * HANGING_S
        matches = chaos.matches_of(hall.where, kept)
    assert matches["matches"] >= 2
    assert [matches[fault] for fault in ("called_twice", "played_twice", "counted_twice")] == [0, 0, 0]


@pytest.mark.slow
def test_load_count_ending_during_hide_loses_no_record(tmp_path):
    def played(count):
        folder = tmp_path / str(count)
        folder.mkdir()
        return len(load.played(folder, count)[0])

    count, sent = next((n, sent) for n in range(RATE, 2 * RATE) if (sent := played(n)) < n)
    (tmp_path / load.TABLES).mkdir()
    figures = load.load(tmp_path, 2, RATE, (count + 0.5) / RATE)
    assert load.whole(figures), figures
    assert figures["games"] == 2
    assert figures["records"] == 2 * sent


@pytest.mark.timeout(600)
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
@pytest.mark.slow
def test_hub_outlives_hostile_records_and_answers_honest_tables(tmp_path, store):
    with server_of(store) as server:
        figures = hostile.hostile(tmp_path, records=400, seed=3, server=server)
    assert hostile.good(figures), figures
    assert figures["tracebacks"] == 0
    assert figures["ack_ms"]["p50"] < 1000, figures


def test_strange_views_are_refused_or_rendered(tmp_path):
    _, views = hostile.played(tmp_path, 40)
    rng, shown = random.Random(1), 0
    for _ in range(300):
        try:
            view = decode_view(hostile.strange_view(views[-1], rng))
        except MessageError:
            continue
        table = TableStatus("t01", view=view, state="ready")
        assert "t01" in tables_markup((table,), ENGLISH)
        format_judge_requests((table,), ENGLISH)
        shown += 1
    assert shown > 50


@pytest.mark.slow
def test_a_small_tournament_is_played_to_its_champion(tmp_path):
    small = ["--once", "--teams", "4", "--tables", "2", "--points", "1", "--pace", "0", "--page", "0"]
    found = subprocess.run(
        [*DEMO, *small], capture_output=True, text=True, check=False, timeout=600, env={"TMPDIR": str(tmp_path)}
    )
    assert found.returncode == 0, found.stderr
    champion = re.search(r"^(Team \d) has won the tournament, after (\d) matches", found.stdout, re.MULTILINE)
    assert champion, found.stdout
    assert int(champion[2]) in (6, 7)
    path = found.stdout[champion.end() :]
    assert len(re.findall(r"^  \S.*: beat ", path, re.MULTILINE)) >= 3
    assert len(re.findall(r" beat Team \d at t0[12]$", found.stdout, re.MULTILINE)) == int(champion[2])
    assert list(tmp_path.iterdir()) == []
    assert "ERROR" not in found.stderr, "each table says goodbye to the hub, which answers"
    warnings = [line for line in found.stderr.splitlines() if "WARNING" in line]
    assert [line for line in warnings if "will retry" not in line] == [], found.stderr  # slow machines connect again


@pytest.mark.slow
def test_the_boards_are_live_while_it_plays(tmp_path):
    command = [*DEMO, "--teams", "2", "--tables", "1", "--points", "1", "--pace", "0.01", "--page", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={"TMPDIR": str(tmp_path)}, stderr=subprocess.DEVNULL
    ) as demo:
        assert demo.stdout is not None
        url = ""
        for line in demo.stdout:
            url = url or (re.search(r"live at (\S+)", line) or ["", ""])[1]
            if "stay up" in line:
                break
        with urllib.request.urlopen(f"{url}tournament.json", timeout=30) as answer:
            tournament = json.load(answer)
        with urllib.request.urlopen(f"{url}results.json", timeout=30) as answer:
            results = json.load(answer)["results"]
        demo.terminate()
        demo.stdout.read()
    assert tournament["champion"] in ("Team 1", "Team 2")
    assert [one["match"] for one in results][:1] == ["W1-1"]
    assert results[0]["table"] == "t01"
    assert demo.returncode == 0


@pytest.mark.slow
def test_ctrl_c_ends_the_demo_without_warnings(tmp_path):
    command = [*DEMO, "--teams", "8", "--tables", "4", "--points", "1", "--pace", "0.01", "--page", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={"TMPDIR": str(tmp_path)}
    ) as demo:
        assert demo.stdout is not None
        assert any(" beat " in line for line in demo.stdout), "a result came from the table"
        demo.send_signal(signal.SIGINT)
        errors = demo.communicate()[1]
    assert demo.returncode == 130
    assert "refused" not in errors, "the tables stop before the hub"
    assert list(tmp_path.iterdir()) == []


def get(port):
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
        return answer.read().decode()
    return ""


def count_records(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT count(*) FROM records").fetchone()[0]


@pytest.mark.slow
def test_trial_needs_no_setup(tmp_path):
    """Hub and table as they are started by hand, without a certificate before."""
    page, https = free_port(), free_port()
    folder = tmp_path / "hub"
    folder.mkdir()
    (folder / "hub.toml").write_text(f"[page]\nport = {page}\nhttps = {https}\n")
    (tmp_path / "table.toml").write_text('[board]\nport = "none"\n[web]\nport = 0\n')
    program = [sys.executable, "-m", "pi_controller"]
    with closing(HubProcess(folder).start()) as hub:
        with closing(Tokens(store_of(folder))) as tokens:
            write_private_file(folder / "t01.token", tokens.issue("t01").encode())
        with (tmp_path / "table.toml").open("a") as settings:
            settings.write(f'[hub]\naddress = "127.0.0.1"\nport = {https}\ntable = "t01"\n')
            settings.write(f'token_file = "{folder}/t01.token"\nca = "{folder}/ca.crt"\n')
        with subprocess.Popen([*program, "run", "--settings", tmp_path / "table.toml"]) as table:
            until(lambda: 'data-state="ready"' in get(page) and count_records(folder / "hub.sqlite"))
            table.send_signal(signal.SIGINT)
        until(lambda: 'data-state="stopped"' in get(page))
        hub.process.send_signal(signal.SIGINT)
        assert hub.process.wait() == 0, hub.log
    with Inbox(store_of(folder)) as inbox:
        assert [*inbox.record_counts()["t01"].values()] == [1]


WRITER = """
import sys
sys.path.insert(0, {folder!r})
from pathlib import Path
from inbox_messages import A, records
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Events, Hello, SentGame
inbox = Inbox(Path(sys.argv[1]))
inbox.store_messages(0.0, [("t01", Hello((SentGame(A, 2000),)))])
held = inbox.record_counts()["t01"][A]
for record in records(A, 2000)[held:]:
    ((_, ack),) = inbox.store_messages(0.0, [("t01", Events(A, (record,)))])
    print(ack.seq, flush=True)
"""


@pytest.mark.slow
def test_acknowledged_records_survive_a_kill(tmp_path, request):
    path, acknowledged = tmp_path / "hub.sqlite", 0
    program = WRITER.format(folder=str(request.path.parents[1] / "support"))
    for after in (1, 40, 7, 150, 3):
        with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True) as writer:
            for _ in range(after):
                line = writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
            rest = [one for one in writer.stdout.read().split("\n")[:-1] if one]
        assert int(line) > acknowledged
        acknowledged = int((rest or [line])[-1])
        with Inbox(path) as inbox:
            held = inbox.record_counts()["t01"][A]
            assert held >= acknowledged
            assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, held)]
