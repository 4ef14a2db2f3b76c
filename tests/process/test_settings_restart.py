"""The program started again from the page of its settings."""

import os
import signal
import subprocess
import sys
import time

import httpx
from back_pages import RESTART, SAVE
from judge_house import PIN, say, sign_in
from ports import free_port

from pi_controller.config.edit import read_written
from pi_controller.web.pin_hash import PinHasher
from pi_controller.web.users import FILE, Users


def test_the_program_starts_again_with_the_new_settings(tmp_path):
    port, file = free_port(), tmp_path / "table.toml"
    file.write_text(f'[web]\nport = {port}\njudges = true\n[board]\nport = "none"\n', "utf-8")
    users = Users(tmp_path / FILE)
    users.add("Ann", "head", PinHasher(1, 8).hash(PIN))
    users.close()
    command = [sys.executable, "-m", "pi_controller", "run", "--settings", file]
    table = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        origin = f"http://127.0.0.1:{port}"

        def answers(text):
            for _ in range(600):
                try:
                    if text in httpx.get(f"{origin}/room", timeout=5).text:
                        return True
                except httpx.HTTPError:
                    pass
                time.sleep(0.1)
            return False

        assert answers("room.css")
        with httpx.Client(base_url=origin, headers={"origin": origin}, timeout=20) as web:
            assert sign_in(web).status_code == 200
            assert say(web, "toss-it-1", "action", action={"do": "toss", "winner": "A"}).status_code == 200
            changes = {"web.event": "Gathering"}
            assert web.post(SAVE, json={"version": read_written(file)[1], "changes": changes}).status_code == 200
            assert web.post(RESTART, json={"playing": True}).status_code == 200
        assert answers("Gathering")
        assert table.poll() is None, "the process is the same"
        assert httpx.get(f"{origin}/view.json", timeout=5).json()["hide"] == 1, "the game goes on"
    finally:
        os.kill(table.pid, signal.SIGTERM)
        assert table.wait(30) == 0
