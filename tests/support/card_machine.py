"""A card in a folder: its start and its unit for requests are real, its devices and its users are made."""

import importlib.util
import os
import sys
from pathlib import Path

from judge_house import PIN, cheap

from pi_controller.card import settings_request
from pi_controller.card.first_start import CardDesk
from pi_controller.card.service_unit import RUN
from pi_controller.config import edit, read_settings, request
from pi_controller.host.place import make_place
from pi_controller.web.start_page import StartChoice
from pi_controller.web.users import FILE as USERS
from pi_controller.web.users import Users

CARD = Path(__file__).parents[2] / "hardware/image/files/usr/local/lib/moccasin-mat/card.py"
FIRST = '[board]\nport = "none"\n[web]\njudges = true\n'


def load_card():
    spec = importlib.util.spec_from_file_location("card_at_start", CARD)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class CardMachine:
    """A card in a folder: its start, its unit for requests, its table's users, and the page's desk."""

    def __init__(self, folder, *, wifi=True):
        self.place = make_place(folder / "root")
        on_disk = self.place.on_disk
        self.state, self.file = on_disk(self.place.state), on_disk(self.place.settings)
        for path in (self.state, self.file.parent, on_disk(RUN), folder / "boot", folder / "state", folder / "run"):
            path.mkdir(parents=True)
        self.card = load_card()
        self.folders = self.card.Card(folder / "boot", self.file.parent, folder / "state", folder / "run")
        self.journal = self.state / "table.sqlite"
        self.file.write_text(f'[table]\njournal = "{self.journal}"\n{FIRST}', "utf-8")
        self.devices = folder / "devices"
        if wifi:
            (self.devices / "sys/class/net/wlan0/wireless").mkdir(parents=True)
        self.users = Users(self.state / USERS)
        kept = cheap().hash(PIN)
        for name, role in (("Ann", "head"), ("Jo", "judge")):
            self.users.add(name, role, kept)
        self.restarts = []
        self.start()

    def start(self):
        """Start the machine as card.py does."""
        for path in self.folders.run.iterdir():
            path.unlink()
        machine, _ = self.card.take_machine(self.folders)
        self.machine = self.card.open_first_network(self.folders, machine)
        self.card.write_machine_files(self.folders, self.machine, os.getgid())

    @property
    def desk(self):
        settings = read_settings(self.file)
        return CardDesk(settings, self.file, self.users, self.ask, run=self.folders.run, root=self.devices)

    def ask(self, machine, hub):
        asked_by = self.place.on_disk(RUN / request.REQUEST.file)

        def unit_runs(_):
            line, restarts = settings_request.accept(self.place)
            self.restarts.append(restarts)
            self.lines = [*getattr(self, "lines", []), line]
            asked_by.unlink()

        asked = request.SaveRequest(
            os.urandom(4).hex(), edit.version_of(self.file.read_text()), {}, dict(machine), dict(hub)
        )
        request.ask(asked, asked_by, self.file.with_name(request.ANSWER), unit_runs)

    def apply(self, use, network="own", **more):
        """Choose, and start the machine again if it is to."""
        done = self.desk.apply(StartChoice(use, network, **{"country": "US", **more}))
        assert self.restarts[-1] == (done.restarts == "machine")
        if done.restarts == "machine":
            self.start()
        return done

    def content(self):
        return {path.name: path.read_bytes() for path in sorted(self.file.parent.iterdir()) if path.is_file()}

    def close(self):
        self.users.close()
