"""The list of all ways out of a table (`secrecy_channels.py`) is complete: what only the program has, fails."""

import secrecy_tables
from secrecy_channels import (
    ARCHIVED,
    COMMANDS,
    DOWNLOADS,
    OBSERVERS,
    PUBLIC,
    REPORTED,
    SECTIONS,
    SIGNED_IN,
    STATIC,
    STREAMS,
    WRITTEN,
    kinds,
)  # fmt: skip
from secrecy_outside import Outside

from pi_controller.config import Settings
from pi_controller.hub.messages import HubAnswer, TableReport
from pi_controller.table.table import Observer


def written(path):
    return WRITTEN.get(path, path)


def test_every_way_out_is_on_the_list(tmp_path):
    seen = {}

    def look(table):
        seen["routes"] = table.web.paths
        direct = (
            next(kind for kind in type(one).__mro__ if Observer in kind.__bases__) for one in table.daemon.observers
        )
        seen["observers"] = {kind.__name__ for kind in direct}
        seen["files"] = {path.name: kinds(path) for path in table.folder.glob("*/**/*")}

    Outside(tmp_path).play([(0.5, look)], 0.6)
    listed = (*PUBLIC, *SIGNED_IN, *DOWNLOADS, *STREAMS, *STATIC, *ARCHIVED, *COMMANDS)
    assert seen["routes"] == {written(path) for path in listed}
    assert seen["observers"] == OBSERVERS
    assert "" not in seen["files"].values(), seen["files"]


def test_every_section_of_the_settings_was_looked_through():
    assert set(Settings.model_fields) == set(SECTIONS)


def test_every_field_between_table_and_hub_is_listed():
    fields = {"report": {*TableReport.__struct_fields__}, "hub": {*HubAnswer.__struct_fields__}}
    assert fields == REPORTED


def test_every_listed_page_answers_an_allowed_role(tmp_path):
    """A page that answers an error to everybody would be the same for all places, and prove nothing."""
    answers = {}

    def look(table):
        for path in (*PUBLIC, *SIGNED_IN):
            for role in ("", "scorekeeper", "judge", "head"):
                answers[path, role] = table.web.get(path, role)[0][:3]

    Outside(tmp_path).play([(secrecy_tables.HIT_T, look)], secrecy_tables.HIT_T + 0.1)
    good = {path for (path, _), status in answers.items() if status == b"200"}
    assert good == {*PUBLIC, *SIGNED_IN} - {"/judge/hit/1.svg"}  # which is there after a hit: `test_sensors.py`
