"""Houses with the pages that the head judge alone opens: the table's settings, and the choice of a card."""

from judge_house import House

from pi_controller.config.edit import save_changes
from pi_controller.display.i18n import translator
from pi_controller.web.settings_form import SettingsForm
from pi_controller.web.settings_page import SettingsPage, settings_routes
from pi_controller.web.start_page import CardState, StartPage, StartResult, start_routes

SAVE, RESTART = "/judge/settings/save", "/judge/settings/restart"
TEXT = '# by hand\n[web]\nlanguage = "en" # English\n'
CHOOSE = "/judge/start/choose"
FIRST_START = CardState(
    use="",
    chosen=False,
    network="own",
    name="Moccasin Mat 4829",
    password="52ej-v6kr-r7xg",
    country="",
    wifi=True,
    countries={"CA": "Canada", "US": "United States"},
)


class BackPages:
    """Pages of a house; `restarts` counts how often it was to start again."""

    restarts = 0

    def restart(self):
        self.restarts += 1


class SettingsPages(BackPages):
    """A settings file and its page."""

    def __init__(self, folder, **web):
        self.file = folder / "table.toml"
        self.file.write_text(TEXT, "utf-8")
        super().__init__(folder, **web)

    def add_pages(self):
        tr = translator(self.settings.web.language)
        form = SettingsForm(self.file, lambda changes, version: save_changes(self.file, changes, version), tr)
        page = SettingsPage(
            self.judges.api,
            self.judges.command_queue,
            form,
            self.restart,
            self.settings.table.journal,
            lambda told: f"report: {told}".encode(),
        )
        self.judges.routes.extend(settings_routes(page))
        self.judges.api.has_settings = True


class MockDesk:
    """Remembers what was chosen; `refuses` is the next error, `result` what is told else."""

    def __init__(self):
        self.card, self.chosen, self.refuses = FIRST_START, [], None
        self.result = StartResult("machine")

    def describe(self):
        return self.card

    def apply(self, choice):
        if self.refuses is not None:
            raise self.refuses
        self.chosen.append(choice)
        return self.result


class CardPages(BackPages):
    """The page of a card's choice."""

    def __init__(self, folder):
        self.start_desk = MockDesk()
        super().__init__(folder)

    def add_pages(self):
        page = StartPage(self.judges.api, self.judges.command_queue, self.start_desk, self.restart)
        self.judges.routes.extend(start_routes(page))
        self.judges.api.has_start = True


class HouseWithSettings(SettingsPages, House):
    """A house with a settings file and its page."""


class HouseWithCard(CardPages, House):
    """A house whose table runs from a card."""
