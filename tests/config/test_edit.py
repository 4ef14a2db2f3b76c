"""A settings file changed from a form: comments stay, every key round-trips, a refused change leaves no trace."""

import random
import tomllib

import pytest
from cases import cases

from pi_controller.config import Settings, format_example
from pi_controller.config.edit import (
    FIXED,
    KEPT,
    EditError,
    StaleError,
    change_text,
    list_settings,
    read_written,
    save_changes,
)
from pi_controller.referee.settings import possible_answers

TEXT = """# The table at the window
[web]
host = "0.0.0.0" # all may see it
language = "en"   # English

[buttons]
pins = { ready = 5, shown = 6 } # soldered

[game]
name = "dakota"
options = { points = "3" }
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(TEXT, "utf-8")
    return path


def save(path, **changes):
    changes = {key.replace("__", "."): value for key, value in changes.items()}
    return save_changes(path, changes, read_written(path)[1])


def refused(path, changes, version=None):
    before = {one: one.read_bytes() for one in path.parent.iterdir()}
    with pytest.raises(EditError) as error:
        save_changes(path, changes, version or read_written(path)[1])
    assert {one: one.read_bytes() for one in path.parent.iterdir()} == before
    return error.value


def every_field(settings=None):
    return [field for section in list_settings(settings or Settings()) for field in section.fields]


def other(field):
    """Return a value other than the default that the field may take alone."""
    special = {
        "web.proxy": "10.0.0.1", "web.address": "http://mat.example", "web.language": "dak",
        "web.hosts": ["mat.example"], "web.embed": ["https://mat.example"], "board.port": "/dev/ttyACM0",
        "board_b.port": None, "voice.device": "plughw:1", "game.name": "slahal", "game.options.hit_seconds": "20",
        "referee.nearest": [2, 1], "strikes.sensor": "fsr", "mat.seats": "stay",
        "exhibit.languages": ["en", "dak"], "exhibit.self_test": "03:00",
    }  # fmt: skip
    if field.key in special:
        return special[field.key]
    if field.kind == "switch":
        return not field.value
    if field.kind == "choice":
        return next(one for one in field.choices if one != field.value)
    if field.key.startswith("buttons.pins.") or field.key == "strips.pin":
        return 27
    if field.kind in {"number", "level"}:
        step = field.least if field.least != field.value else field.most
        return int(step) if field.whole else step
    if field.key.startswith("game.options."):
        return str(int(field.value) + 1)
    if field.key.startswith("referee.answers."):
        return next(one for one in possible_answers(field.key.rpartition(".")[2]) if one != field.value)
    if field.key.endswith((".quiet_from", ".quiet_to", ".opens", ".closes", ".dim_from", ".dim_to")):
        return None  # these come in pairs
    if field.key in {"marks.ground", "marks.ink", "marks.images"}:
        return None  # these come with a name
    if field.key.endswith((".season_from", ".season_to")):
        return None
    return "other"


def test_times_and_levels_have_fields_of_their_own():
    kinds = {field.key: field.kind for field in every_field()}
    times = {key for key, kind in kinds.items() if kind == "time"}
    assert times == {f"exhibit.{key}" for key in ("opens", "closes", "dim_from", "dim_to")} | {
        "voice.quiet_from", "voice.quiet_to",
    }  # fmt: skip
    levels = {key for key, kind in kinds.items() if kind == "level"}
    assert levels == {
        "strips.brightness", "voice.volume", "voice.quiet_volume", "exhibit.dim_lights", "exhibit.dim_page",
    }  # fmt: skip
    assert (kinds["exhibit.usage"], kinds["exhibit.self_test"]) == ("switch", "text")


def test_the_form_has_every_key_of_the_example():
    listed = {field.key for field in every_field()}
    data = tomllib.loads(format_example())

    def keys(part, path):
        for key, value in part.items():
            if isinstance(value, dict):
                yield from keys(value, (*path, key))
            else:
                yield ".".join((*path, key))

    assert set(keys(data, ())) - listed == {
        "hub.token_file",
        "hub.ca",
        "exhibit.heartbeat",
    }
    assert {"game.options.points", "game.options.hit_seconds"} <= listed


ALONE = [one for one in every_field() if not one.fixed and other(one) is not None]


@pytest.mark.parametrize("field", ALONE[:: cases(8, 1)], ids=lambda one: one.key)
@pytest.mark.parametrize("written", ["", TEXT, format_example()], ids=["empty", "by hand", "example"])
def test_every_key_round_trips(tmp_path, field, written):
    value = other(field)
    path = tmp_path / "table.toml"
    path.write_text(written, "utf-8")
    before, version = read_written(path)
    after = save_changes(path, {field.key: value}, version)
    assert after != version
    found = {one.key: one.value for one in every_field(read_written(path)[0])}
    assert found.pop(field.key) == value
    same = {one.key: one.value for one in every_field(before)}
    # a preset and a game bring their own
    loose = ("referee.", "game.options.") if field.key in {"referee.preset", "game.name"} else ("none",)
    assert all(found[key] == same[key] for key in found.keys() & same.keys() - {field.key} if not key.startswith(loose))
    assert path.with_name(path.name + KEPT).read_text("utf-8") == written


def test_comments_and_order_stay(path):
    save(path, web__language="dak", web__event='The "Gathering"', teams__a="Big Coulee", buttons__pins__ready=13)
    assert (
        path.read_text("utf-8")
        == TEXT.replace('"en" ', '"dak" ')
        .replace("English\n", 'English\nevent = "The \\"Gathering\\""\n')
        .replace("ready = 5", "ready = 13")
        + '\n[teams]\na = "Big Coulee"\n'
    )


def test_key_in_inline_table_is_saved(path):
    path.write_text('web = { language = "en" }\n', "utf-8")
    save(path, web__event="Gathering")
    assert read_written(path)[0].web.event == "Gathering"


def test_options_of_another_game_do_not_stay(path):
    save(path, game__name="slahal")
    assert read_written(path)[0].game.options == {}


def test_numbers_are_listed_in_shortest_form(path):
    save(path, strips__current_cap_ma=123456.75 / 10, web__idle_min=60)
    shown = {one.key: one.value for one in every_field(read_written(path)[0])}
    assert repr(shown["strips.current_cap_ma"]) == "12345.675"
    assert repr(shown["voice.volume"]) == "0.8"
    assert repr(shown["recording.max_mb"]) == "1000"
    assert repr(shown["backup.every_s"]) == "60"


def test_permissions_stay(path):
    path.chmod(0o640)
    save(path, web__event="x")
    assert {one.stat().st_mode & 0o777 for one in path.parent.iterdir()} == {0o640}


def test_two_people_save_at_once(path):
    version = read_written(path)[1]
    save_changes(path, {"web.event": "one"}, version)
    error = refused(path, {"web.event": "two"}, version)
    assert isinstance(error, StaleError)
    assert read_written(path)[0].web.event == "one"


def test_all_faults_are_reported_at_once(path):
    error = refused(path, {"board_b.port": "/dev/b", "strips.pin": 99, "voice.volume": "x"})
    assert set(error.issues) == {"board_b.port", "strips.pin", "voice.volume"}


@pytest.mark.parametrize("keys", FIXED, ids=".".join)
def test_fixed_keys_are_refused(path, keys):
    fields = [one for one in every_field() if one.key.startswith(".".join(keys))]
    assert fields
    assert all(one.fixed for one in fields)
    for one in fields:
        assert one.key in refused(path, {one.key: one.value}).issues
    refused(path, {"hub.token_file": "/etc/shadow"})
    refused(path, {"exhibit.heartbeat": "http://10.0.0.1/"})
    refused(path, {"observers.load": ["my_log"]})


def test_random_malformed_changes_leave_the_file_unchanged(path):
    rng = random.Random(4)
    names = [one.key for one in every_field()]
    values = [None, [], {}, "\0", "x" * 500, -1, 1e400, [1, "a"], {"a": 1}, "\u202e", 10**30, "'''\n[web]\nport = 1"]
    version = read_written(path)[1]
    done = 0
    for _ in range(cases(200, 500)):
        key = rng.choice([rng.choice(names), rng.choice(names) + ".x", "", "web", "a.b", "web.", "__class__.x"])
        changes = {key: rng.choice(values), **({rng.choice(names): rng.choice(values)} if rng.random() < 0.5 else {})}
        try:
            save_changes(path, changes, version)
        except EditError:
            continue
        # a text can be a name: then it is stored as it is, and nothing beside it has changed
        settings, version = read_written(path)
        assert {one.key: one.value for one in every_field(settings) if one.key in changes} == changes
        done += 1
        path.write_text(TEXT, "utf-8")
        version = read_written(path)[1]
    assert done < 100
    assert path.read_text("utf-8") == TEXT


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "Table 9"),
        ('[table] # ours\nname = "Table 1"\n', "Table 9"),
        ('[table]\nname = "Table 3"\n', "Table 3"),
        ("[web]\nport = 8081\n", "Table 9"),
    ],
)
def test_joining_names_a_table_that_has_no_name(tmp_path, text, name):
    hub = {"address": "127.0.0.1", "table": "t09", "token_file": "hub.token", "ca": "hub.crt"}
    path = tmp_path / "table.toml"
    (tmp_path / "ca").write_text("")
    path.write_text(change_text(path, text, {}, hub | {"ca": str(tmp_path / "ca")}))
    assert tomllib.loads(path.read_text())["table"]["name"] == name
    assert ("# ours" in path.read_text()) == ("# ours" in text)


def test_leaving_a_hub_keeps_the_name(tmp_path):
    path = tmp_path / "table.toml"
    new = change_text(path, "[hub]\n", {}, {"address": ""})
    assert "table" not in tomllib.loads(new)
