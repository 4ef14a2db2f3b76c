"""The hub's containers, really built and started: pages and database, a table that joins, and what may end.

    MOCCASIN_COMPOSE="docker compose" .venv/bin/pytest -n 0 -s tests/process/machine/test_container.py

It also takes `podman-compose`. It uses ports 8090 and 8443 of this machine for about two minutes, with volumes
of its own, which it deletes at the end. The image `moccasin-mat-hub` stays.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMPOSE_FILE = Path(__file__).parents[3] / "hardware/image/container/compose.yaml"
HOST = "127.0.0.1"
PATIENCE_S = 60.0


class Containers:
    """The services of compose.yaml in a project of their own."""

    def __init__(self, words: list[str]) -> None:
        self._words = [*words, "-p", "moccasin-mat-test", "-f", str(COMPOSE_FILE)]

    def run(self, *words: str, patience_s: float = 120.0, check: bool = True) -> str:
        """Run one command of compose; return what it wrote."""
        done = subprocess.run(
            [*self._words, *words],
            env=os.environ | {"HUB_HOST": HOST},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=patience_s,
            check=False,
        )
        assert not check or done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout

    def inside(self, service: str, *words: str) -> str:
        """Run a command in the container of `service`; return what it wrote."""
        return self.run("exec", "-T", service, *words)


@pytest.fixture
def containers() -> Iterator[Containers]:
    """Return the started services; skip without a program that runs them."""
    named = os.environ.get("MOCCASIN_COMPOSE")
    if not named:
        pytest.skip('builds and starts containers: MOCCASIN_COMPOSE="docker compose" or podman-compose')
    made = Containers(shlex.split(named))
    made.run("down", "-v", check=False)
    begun = time.monotonic()
    made.run("build", patience_s=1500.0)
    print(f"\nbuilt in {time.monotonic() - begun:.0f} s")
    try:
        made.run("up", "-d")
        yield made
    finally:
        made.run("down", "-v", check=False)


def wait_for(fact: Callable[[], object], what: str) -> None:
    """Wait until `fact` is true."""
    end = time.monotonic() + PATIENCE_S
    while not fact():
        assert time.monotonic() < end, f"after {PATIENCE_S:.0f} s not yet: {what}"
        time.sleep(0.2)


def hub_answers() -> httpx.Response | None:
    """Return the hub's list of tables, None if it does not answer."""
    with suppress(httpx.HTTPError):
        return httpx.get(f"http://{HOST}:8090/tables.json", timeout=5.0).raise_for_status()
    return None


def is_table_ready() -> bool:
    """Return whether the hub shows the joined table as connected."""
    answer = hub_answers()
    return answer is not None and any(
        (one["table"], one["state"]) == ("t09", "ready") for one in answer.json()["tables"]
    )


def director_session(containers: Containers) -> httpx.Client:
    """Return a session that is signed in with a new PIN, over HTTPS."""
    name, pin = re.fullmatch(
        r"(.+): (\d+) \(.*\)\s*", containers.inside("hub", "moccasin-mat", "hub", "director", "/venue")
    ).groups()  # type: ignore[union-attr]
    url = f"https://{HOST}:8443"
    web = httpx.Client(base_url=url, headers={"origin": url}, verify=False, timeout=30.0)
    assert web.post("/director/sign-in", json={"name": name, "pin": pin}).status_code == 200
    return web


def stored_records(containers: Containers) -> int:
    """Return the number of records in the database, after a check of their hash chains."""
    told = containers.inside("hub", "bash", "-c", "rm -rf /tmp/copies; moccasin-mat hub journals /venue /tmp/copies")
    return sum(int(count) for count in re.findall(r": (\d+) records", told))


def test_joined_table_survives_container_restarts(containers: Containers, tmp_path: Path) -> None:
    wait_for(hub_answers, "the boards")
    with closing(director_session(containers)) as web:
        opened = web.post("/director/join", json={"do": "open", "table": "t09"}).json()
    settings = tmp_path / "table.toml"
    settings.write_text('[board]\nport = "none"\n[web]\nport = 0\n')
    verb = [sys.executable, "-m", "pi_controller"]
    subprocess.run([*verb, *opened["command"].split()[1:], "--settings", settings], check=True, cwd=tmp_path)
    environment = os.environ | {"HOME": str(tmp_path)}
    table = subprocess.Popen([*verb, "run", "--settings", settings], cwd=tmp_path, env=environment)
    try:
        wait_for(is_table_ready, "the table is at its hub")
        wait_for(lambda: stored_records(containers) > 0, "its records are in the database")
        before = stored_records(containers)
        containers.run("kill", "-s", "KILL", "hub")
        wait_for(lambda: hub_answers() is None, "the hub is killed")
        containers.run("up", "-d")
        wait_for(is_table_ready, "the table is at its hub again")
        containers.run("restart", "database")
        containers.run("down")
        containers.run("up", "-d")
        wait_for(is_table_ready, "with new containers")
        assert stored_records(containers) >= before
    finally:
        table.terminate()
        table.wait(PATIENCE_S)
    assert containers.inside("hub", "id", "-un").strip() == "hub"
    assert containers.inside("database", "id", "-un").strip() == "postgres"
    assert stored_records(containers) >= before
