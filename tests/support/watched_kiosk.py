"""An installation with a screen of its own that is watched, on a clock that the test moves."""

from contextlib import ExitStack, contextmanager

from pi_controller.config import read_settings
from pi_controller.host import request
from pi_controller.runtime.assembly import assemble_exhibit

LOOK_S = 5.0


@contextmanager
def watched_kiosk(folder, monkeypatch):
    """Yield the installation, a function that lets its time pass, and the file by which it asks for a restart."""
    (folder / "running").mkdir()
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(folder))
    monkeypatch.setattr("pi_controller.exhibit.installation.RUNNING", folder / "running")
    (folder / "table.toml").write_text("[web]\nport = 0\n")
    now = [1000.0]
    with ExitStack() as stack:
        daemon = assemble_exhibit(read_settings(folder / "table.toml"), folder, lambda: now[0], stack)

        def pass_s(seconds):
            end = now[0] + seconds
            while now[0] < end:
                now[0] += LOOK_S
                daemon.step(now[0])

        yield daemon.table, pass_s, folder / request.RESTART.file
