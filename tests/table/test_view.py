"""The JSON of a view, byte for byte as `/view.json` has sent it since it was first read by others."""

from pathlib import Path

import msgspec
import pytest
from seats import sit

from pi_controller.journal.journal import Journal
from pi_controller.referee.json_lines import parse_line
from pi_controller.table.view import View

PLAYED = {
    "dakota": """
        {"t": 1, "event": "link", "up": true}
        {"t": 2, "event": "sensors", "faults": [{"sensor": "strip", "pad": 3, "why": "stuck", "strip": 0}]}
        {"t": 3, "event": "button", "name": "toss_a"}
        {"t": 4, "event": "button", "name": "ready"}
        {"t": 5.25, "event": "hand_in", "pad": 1}
        {"t": 5.35, "event": "hand_out", "pad": 1}
        {"t": 5.5, "event": "hand_in", "pad": 2}
        {"t": 5.60, "event": "hand_out", "pad": 2}
        {"t": 5.75, "event": "hand_in", "pad": 3}
        {"t": 5.85, "event": "hand_out", "pad": 3}
        {"t": 6.0, "event": "hand_in", "pad": 4}
        {"t": 6.10, "event": "hand_out", "pad": 4}
        {"t": 7, "judge": "hidden"}
        {"t": 9, "event": "beads", "found": [{"pad": 2, "marked": true}]}
        {"t": 10, "event": "beads", "found": [{"pad": 3, "marked": true}]}
        {"t": 11, "judge": "answer", "answer": "play_on"}
        {"t": 12, "judge": "protest", "by": "B", "text": "heard it"}
        {"t": 13, "judge": "ruling", "ruling": "play_on", "reason": "later"}
        {"t": 14, "event": "strike", "pads": [1], "margin_db": 20}
        {"t": 15, "event": "strike", "pads": [3], "margin_db": 20}
        {"t": 16, "judge": "clock", "running": false, "reason": "lunch"}
        {"t": 17, "judge": "undo", "reason": "not that pad"}
        {"t": 18, "judge": "action", "action": {"do": "foul", "by": "hitter", "kind": "outside_help"}}
        {"t": 19, "judge": "sensors", "on": false, "reason": "the drums"}
        {"t": 20, "event": "link", "up": false, "why": "unplugged"}
        {"t": 21, "judge": "close", "by": "A", "cause": "forfeit", "reason": "ill"}
    """,
    "ojibwe": """
        {"t": 1, "event": "link", "up": true}
        {"t": 2, "judge": "action", "action": {"do": "toss", "winner": "B"}}
        {"t": 3, "judge": "hidden"}
        {"t": 4, "event": "beads", "found": [{"pad": 1}, {"pad": 2, "marked": true}, {"pad": 3}, {"pad": 4}]}
        {"t": 5, "event": "hand_in", "pad": 4, "side": "hitter"}
        {"t": 6, "event": "strike", "pads": [2], "margin_db": 20}
        {"t": 7, "judge": "action", "action": {"do": "forfeit", "by": "A"}}
    """,
    "slahal": """
        {"t": 1, "judge": "action", "action": {"do": "duo", "A": true, "B": false}}
        {"t": 2, "event": "link", "up": true}
        {"t": 63, "event": "button", "name": "left"}
        {"t": 64, "event": "button", "name": "ready"}
        {"t": 65, "event": "beads", "found": [{"pad": 1}, {"pad": 3}]}
        {"t": 66, "event": "button", "name": "left"}
        {"t": 67, "judge": "protest", "by": "A"}
    """,
    "patol": """
        {"t":1,"judge":"action","action":{"do": "start", "player": "A", "river": "north", "direction": "clockwise"}}
        {"t":2,"judge":"action","action":{"do": "start", "player": "B", "river": "south", "direction": "clockwise"}}
        {"t": 3, "event": "strike", "pads": [1], "margin_db": 20}
        {"t": 4, "judge": "action", "action": {"do": "throw", "marked": 1}}
    """,
}
SENT = Path(__file__).with_name("views.jsonl")
"""What `sent` yields for all of them. A field may be added to them; none may go, or mean something else."""


def sent(name, path):
    """Yield the JSON of the view after each line of a game; of hands in Hampa Apena only what came of them."""
    with Journal(path, token=bytes) as journal:
        table = sit(journal, name)
        for line in PLAYED[name].strip().splitlines():
            event = parse_line(line.encode())
            table.tick(event.t)
            (table.judge if '"judge"' in line else table.mat_event)(event)
            if '"hand_' not in line or name == "ojibwe":
                yield msgspec.json.encode(msgspec.structs.replace(table.view, version="1", head="")).decode()


@pytest.mark.parametrize("name", PLAYED)
def test_view_json_matches_the_stored_samples(name, tmp_path):
    was = [line for line in SENT.read_text().splitlines() if f'"game":"{name}"' in line]
    now = list(sent(name, tmp_path / "table.sqlite"))
    assert now == was
    assert [msgspec.json.encode(msgspec.json.decode(line, type=View)).decode() for line in now] == now


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for each in PLAYED:
            print("\n".join(sent(each, Path(folder, each))))
