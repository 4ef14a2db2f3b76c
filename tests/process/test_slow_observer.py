"""The thread of an observer that hangs: the table steps on, and ends."""

import threading
from types import SimpleNamespace

from pi_controller.runtime import plugins
from pi_controller.runtime.plugins import MAX_WAITING, WatcherThread
from pi_controller.table.watcher import TableWatcher

LIMIT_S = 60.0


class Hangs(TableWatcher):
    def __init__(self):
        self.enters, self.may_go, self.closed, self.seen = (*(threading.Event() for _ in range(3)), [])

    def on_view(self, view):
        self.enters.set()
        self.may_go.wait(LIMIT_S)
        self.seen.append(view.seq)

    def close(self):
        self.closed.set()


def test_hanging_observer_delays_no_step_and_no_end(view, tmp_path, monkeypatch):
    monkeypatch.setattr(plugins, "CLOSING_S", 0.0)
    watcher, table = Hangs(), SimpleNamespace(journal=SimpleNamespace(meta=SimpleNamespace(epoch="one")))
    thread = WatcherThread("hangs", watcher, tmp_path / "j.sqlite")
    for seq in range(1, 3 * MAX_WAITING):
        table.view = view(seq=seq)
        thread.on_step(0.0, table, armed=False)
        assert watcher.enters.wait(LIMIT_S)
    thread.close()
    assert watcher.seen == []
    watcher.may_go.set()
    assert watcher.closed.wait(LIMIT_S)
    assert watcher.seen == [1, *range(2 * MAX_WAITING, 3 * MAX_WAITING)]
