"""Files are deleted by their age only while ages can be trusted."""

import os

import pytest

from pi_controller.host.retention import DAY_S, LOOK_S, Retention

NOW = 1_800_000_000.0
YEARS_S = 3 * 365 * DAY_S


class Machine:
    """A machine whose clock is set as a test wants, with one file an hour old and one of yesterday in `folder`."""

    def __init__(self, folder):
        self.folder, self.wall, self.steady, self.is_set = folder, NOW, 0.0, True
        self.add("new", NOW - 3_600.0)
        self.add("old", NOW - DAY_S)
        self.start()

    def add(self, name, changed):
        path = self.folder / f"{name}.sensors"
        path.write_bytes(bytes(100))
        os.utime(path, times=(changed, changed))

    def start(self, max_bytes=10_000):
        """Start the program: it keeps files for thirty days."""
        self.retention = Retention(
            self.folder, "*.sensors", 30, max_bytes,
            wall=lambda: self.wall, steady=lambda: self.steady, clock_set=lambda _: self.is_set,
        )  # fmt: skip

    def pass_time(self, seconds):
        self.wall, self.steady = self.wall + seconds, self.steady + seconds

    def left(self):
        """Return the files that are left after a look."""
        self.pass_time(LOOK_S)
        self.retention.make_room()
        return {path.stem for path in self.folder.iterdir()}


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_files_go_when_they_are_too_old(machine):
    machine.pass_time(29.5 * DAY_S)
    assert machine.left() == {"new"}
    machine.pass_time(DAY_S)
    assert machine.left() == set(), "the program has run for more than a day"


@pytest.mark.parametrize("restarts", [False, True])
def test_clock_jump_deletes_nothing_for_a_day(machine, restarts):
    machine.wall += YEARS_S
    if restarts:
        machine.start()
    assert machine.left() == {"new", "old"}
    assert machine.retention.undated
    machine.wall -= YEARS_S
    machine.pass_time(DAY_S)
    assert machine.left() == {"new", "old"}
    assert not machine.retention.undated


def test_unset_clock_deletes_nothing_by_age(machine):
    machine.is_set = False
    machine.pass_time(29.5 * DAY_S)
    assert machine.left() == {"new", "old"}
    machine.is_set = True
    assert machine.left() == {"new"}


def test_file_from_the_future_stops_deletion_by_age(machine):
    machine.pass_time(29.5 * DAY_S)
    machine.add("tomorrow", machine.wall + DAY_S)
    assert machine.left() == {"new", "old", "tomorrow"}
    assert machine.retention.undated


def test_unset_clock_does_not_lift_size_limit(machine):
    machine.is_set = False
    machine.start(max_bytes=150)
    assert machine.left() == {"new"}


def test_files_are_listed_once_an_hour(machine, monkeypatch):
    machine.start(max_bytes=20_000)
    looks = []
    look = machine.retention._look
    monkeypatch.setattr(machine.retention, "_look", lambda *of: looks.append(machine.steady) or look(*of))
    for number in range(1, 121):
        machine.add(f"game {number}", machine.wall)
        machine.retention.make_room(machine.folder / f"game {number}.sensors")
        machine.pass_time(60.0)
    assert looks == [0.0, 3_600.0]
    machine.retention.make_room(machine.folder / "next.sensors", 20_000 - 100 * 121)
    assert len(looks) == 3, "the total is reached, also of those written since the last look"
