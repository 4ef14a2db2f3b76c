"""`moccasin-mat hub --demo` as it is started by hand, small: it ends with a champion and leaves nothing."""

import asyncio
import json
import re
import subprocess
import sys
import urllib.request

import aiomqtt
import pytest
from brokers import PATIENCE_S
from ports import free_port

from pi_controller.cli.hub import hub as main
from pi_controller.errors import UsageError
from pi_controller.hub.run import embedded_broker

DEMO = [sys.executable, "-m", "pi_controller", "hub", "--demo"]


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
    assert len(re.findall(r"^  \S+ +beat ", path, re.MULTILINE)) >= 3
    assert len(re.findall(r" beat Team \d at t0[12]$", found.stdout, re.MULTILINE)) == int(champion[2])
    assert list(tmp_path.iterdir()) == []
    assert "ERROR" not in found.stderr, "each table says goodbye to the broker, which answers"
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


@pytest.mark.parametrize("args", [["--teams", "1"], ["--tables", "17"], ["--pace", "-1"], ["run"]])
def test_demo_refuses_unplayable_arguments(args):
    with pytest.raises(UsageError):
        main(["--demo", *args])


def test_embedded_broker_serves_subscribes_during_other_connects():
    async def stay(port, number, came, all_came):
        async with aiomqtt.Client("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V311) as client:
            came.set()
            await client.subscribe(f"t/{number}/+")
            await client.publish(f"t/{number}/state", b"ready", 1, retain=True)
            await all_came.wait()

    async def connect_many(count):
        port, all_came, clients = free_port(), asyncio.Event(), []
        async with embedded_broker(port):
            for number in range(count):
                came = asyncio.Event()
                clients.append(asyncio.create_task(stay(port, number, came, all_came)))
                await came.wait()
            all_came.set()
            await asyncio.wait_for(asyncio.gather(*clients), PATIENCE_S)

    asyncio.run(connect_many(20))
