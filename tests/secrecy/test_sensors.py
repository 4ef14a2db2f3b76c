"""What the sensors felt of a hide is for nobody's eyes before its end: not in a page, not in a file, in no role."""

import json
import stat

import pytest
import secrecy_tables
from secrecy_outside import Outside
from secrecy_people import hides, presses, strikes

from pi_controller.recording.store import Recording

ONLY_OWNER = stat.S_IRUSR | stat.S_IWUSR
DEEDS = [
    *presses(secrecy_tables.TOSS_T, "toss_a"),
    *hides(secrecy_tables.HIDE_T, {"bead": (3, secrecy_tables.OFF)}),
    *presses(secrecy_tables.READY_T, "ready"),
    *strikes(secrecy_tables.HIT_T, 1),
    *strikes(secrecy_tables.SECOND_HIT_T, 2),
]
KEPT_T = 0.6
"""After a hit, its samples have been kept."""


def looks(seen, name):
    def look(table):
        seen[name] = {
            role: (
                table.web.get("/judge/hits.json", role),
                table.web.get("/judge/hit/1.svg", role),
                table.web.get("/judge/hit/2.svg", role),
            )
            for role in ("", "scorekeeper", "judge", "head")
        }
        recording = next((table.folder / "table").glob("*.sensors"))
        seen[name]["recording"] = recording.read_bytes()
        seen[name]["entries"] = len(list(Recording(recording).entries()))

    return look


def numbers(answer):
    return [hit["n"] for hit in json.loads(answer[1])["hits"]]


def test_head_judge_alone_sees_settled_hits_during_hide(tmp_path):
    seen = {}
    deeds = [
        *DEEDS,
        (secrecy_tables.HIT_T - 0.1, looks(seen, "sealed")),
        (secrecy_tables.HIT_T + KEPT_T, looks(seen, "one hit")),
        (secrecy_tables.SECOND_HIT_T + KEPT_T, looks(seen, "over")),
    ]
    Outside(tmp_path).play(deeds, secrecy_tables.SECOND_HIT_T + 1.5)
    for moment, of_role in seen.items():
        for answer in of_role[""]:
            assert answer[0].startswith(b"401"), moment
        for role in ("scorekeeper", "judge"):
            hits, first, second = of_role[role]
            assert numbers(hits) == ([1, 2] if moment == "over" else []), (moment, role)
            assert {first[0][:3], second[0][:3]} == ({b"200"} if moment == "over" else {b"404"}), (moment, role)
    assert [numbers(seen[moment]["head"][0]) for moment in seen] == [[], [1], [1, 2]]
    assert seen["one hit"]["head"][1][0].startswith(b"200")
    assert seen["one hit"]["head"][2][0].startswith(b"404")
    assert seen["sealed"]["recording"] == seen["one hit"]["recording"]  # a header, and nothing of the hide
    assert [seen[moment]["entries"] > 0 for moment in seen] == [False, False, True]
    assert len(seen["over"]["recording"]) > 10 * len(seen["sealed"]["recording"])


@pytest.mark.slow
def test_hits_and_judges_files_are_private_to_owner(tmp_path):
    modes = {}

    def look(table):
        for path in (table.folder / "table").iterdir():
            modes[path.name] = stat.S_IMODE(path.stat().st_mode)

    Outside(tmp_path).play([*DEEDS, (secrecy_tables.HIT_T + KEPT_T, look)], secrecy_tables.HIT_T + 0.7)
    sensitive = {name: mode for name, mode in modes.items() if "hits" in name or "judges" in name}
    assert {"j.sqlite.hits", "j.sqlite.hits-journal", "judges.sqlite"} <= set(sensitive)
    assert set(sensitive.values()) == {ONLY_OWNER}, sensitive
