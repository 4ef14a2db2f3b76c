"""The public pages as the server makes them: the room's, the overlay, where they are found, the check of a seal."""

from __future__ import annotations

import hashlib
import html
import re
import subprocess
from html import unescape

import msgspec
import pytest
import zxingcpp
from made_views import change_view
from phases import ALL, BOUND, DAKOTA, NONCE, PHASES, SEAL
from PIL import Image
from played import play

from pi_controller.display.i18n import ENGLISH
from pi_controller.display.shown_names import player_name
from pi_controller.referee.commitment import CommitmentContext, check, commitment
from pi_controller.referee.facts import BeadShown, Commit, CommitmentWithdrawn, Reveal
from pi_controller.referee.reducer import apply, blank
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules import registry
from pi_controller.rules.options import Choice
from pi_controller.table.view import Opening, view_of
from pi_controller.web import address
from pi_controller.web.address import PageSettings, list_urls, normalize_address, qr_code, qr_text
from pi_controller.web.check_page import check_page
from pi_controller.web.feed import Feed
from pi_controller.web.frames import frame_page
from pi_controller.web.live_page import SealShown, live_content
from pi_controller.web.public_pages import find_page, rules_page, rules_route
from pi_controller.web.room_page import strip
from pi_controller.web.server import WebServer

WICKED = "<script>alert(1)</script>"
PUBLIC = ("/", "/room", "/overlay", "/find", "/check")
OPENED = Opening(7, SEAL, 4, NONCE.hex(), *BOUND)


def texts(html):
    """Return what a page says, without its tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("frame", ["room", "overlay"])
def test_every_phase_of_every_game_is_a_page(phase, frame):
    more = {"place": "top"} if frame == "overlay" else {"found": [], "event": "", "words": ""}
    html = frame_page(PHASES[phase], ENGLISH, frame, 1012.0, as_of="12:34:56", **more)
    said = texts(unescape(html))
    assert live_content(PHASES[phase], ENGLISH).sentence in said
    assert "None" not in said
    assert " style=" not in html
    assert "{" not in said


def test_clocks_count_by_the_tables_time():
    def clocks(t, **changed):
        view = msgspec.structs.replace(PHASES["slahal"], **changed)
        html = frame_page(view, ENGLISH, "", t, as_of="")
        return re.findall(r"<b data-ends=[^>]*>([^<]*)<", html)

    assert clocks(1012.0) == ["0:48", "12:34"]
    assert clocks(1072.5) == ["0:00", "11:34"]
    assert clocks(1072.5, stood=1012.0, ends_stood=1012.0) == ["0:48", "12:34"], "a stopped clock stands"
    assert clocks(1012.0, ends=None, limit=None) == []


@pytest.mark.parametrize("game", ["dakota", *ALL])
def test_strip_has_one_cell_per_player_or_team(game):
    view = PHASES.get(game, DAKOTA)
    told = strip(view, ENGLISH)
    for side in view.scoreboard.scores:
        assert f">{player_name(view, side)}</bdi>" in told
    points = re.findall(r'<b class="points">(\d+)</b>', told)
    assert list(map(int, points)) == list(view.scoreboard.scores.values())
    assert told.count('data-turn="yes"') == (view.scoreboard.turn is not None)


def test_the_strips_numbers_are_the_tables():
    told = strip(change_view(DAKOTA, short={"A": 4, "B": 1}, long={"A": 13, "B": 3}, middle=4), ENGLISH)
    assert re.findall(r'<b class="points">(\d+)</b>', told) == ["4", "1"]
    assert re.findall(r'<span class="held">(\d+)</span>', told) == ["13", "3"]
    assert [row.count('"on"') for row in re.findall(r'class="long sticks".*?</div>', told)] == [13, 3]
    assert '<span class="label">middle</span><b>4</b>' in told


@pytest.mark.parametrize("path", PUBLIC)
def test_names_and_words_cannot_become_markup(path, view, visit):
    feed = Feed()
    feed.publish(view(teams={"A": WICKED, "B": WICKED}, note=WICKED))
    answer = visit(WebServer(feed, pages=PageSettings("192.0.2.4", WICKED, WICKED, WICKED, reach=True))).get(path)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert path == "/check" or "&lt;script&gt;alert(1)" in answer.text


def test_overlay_place_follows_its_query_parameter(web):
    assert 'data-place="bottom"' in web.get("/overlay").text
    assert 'data-place="top"' in web.get("/overlay?place=top").text
    assert web.get("/overlay?place=<script>").status_code == 400


def test_pages_before_the_first_view_answer_retry_later(visit):
    web = visit(WebServer(Feed()))
    for path in ("/room", "/overlay"):
        answer = web.get(path)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        assert 'http-equiv="refresh"' in answer.text
    for path in ("/find", "/check"):
        assert web.get(path).status_code == 200


def test_list_urls_by_address_reach_and_port(monkeypatch, tmp_path):
    monkeypatch.setattr("socket.gethostname", lambda: "mat")
    monkeypatch.setattr(address, "LOCAL", tmp_path / "none")
    assert list_urls(PageSettings("mat.example"), 8080) == ["http://mat.example"]
    assert list_urls(PageSettings("https://mat.example/hall/"), 8080) == ["https://mat.example/hall"]
    assert list_urls(PageSettings(), 8080, asked="127.0.0.1") == [], "to this machine only"
    by_number = list_urls(PageSettings(reach=True), 8080, asked="192.0.2.7")
    assert by_number == ["http://192.0.2.7:8080"], "nobody answers to a name with .local"
    monkeypatch.setattr(address, "LOCAL", tmp_path)
    assert list_urls(PageSettings(reach=True), 8080, asked="192.0.2.7") == [*by_number, "http://mat.local:8080"]
    assert list_urls(PageSettings(reach=True), 80, asked="2001:db8::7")[0] == "http://[2001:db8::7]"
    assert PageSettings("mat.example:81").hosts == ("mat.example",)
    assert normalize_address("mat.example", "https") == "https://mat.example"


def test_the_codes_say_the_addresses():
    html = find_page(["http://192.0.2.7:8080", "http://mat.local:8080"], PageSettings(), ENGLISH)
    codes = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert [re.search(r'aria-label="([^"]*)"', one)[1] for one in codes] == [
        f"Code of http://192.0.2.7:8080/{path}" for path in ("", "room", "check", "overlay")
    ]
    assert html.count('href="http://mat.local:8080/') == 4
    none = find_page([], PageSettings(), ENGLISH)
    assert "<svg" not in none
    assert 'href="/help/watch/screens"' in none


def test_the_terminals_code_can_be_read():
    lines = qr_text("http://192.0.2.7:8080/").plain.splitlines()
    image = Image.new("L", (len(lines[0]), 2 * len(lines)), 255)
    for y, line in enumerate(lines):
        for x, char in enumerate(line):
            for half, dark in enumerate({" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}[char]):
                image.putpixel((x, 2 * y + half), 0 if dark else 255)
    (read,) = zxingcpp.read_barcodes(image.resize((8 * image.width, 8 * image.height), Image.Resampling.NEAREST))
    assert read.text == "http://192.0.2.7:8080/"


def test_a_codes_description_cannot_become_markup():
    assert WICKED not in qr_code("http://x/", WICKED)


def field(html, name):
    return re.search(rf'<input id="{name}" value="([^"]*)"', html)[1]


def test_the_check_page_brings_the_last_seal_opened():
    view = msgspec.structs.replace(PHASES["show"], game="dakota", opening=OPENED)
    html = check_page(view, ENGLISH)
    told = {name: field(html, name) for name in ("table", "epoch", "event", "hide", "pad", "nonce", "hash")}
    bound = CommitmentContext(unescape(told["table"]), told["epoch"], int(told["event"]))
    assert check(told["hash"], "dakota", int(told["hide"]), int(told["pad"]), told["nonce"], bound)
    assert "Hide 7: " in texts(html)
    assert '<option value="dakota" selected>' in html


def test_check_page_omits_a_closed_seal():
    html = check_page(msgspec.structs.replace(DAKOTA, opening=None), ENGLISH)
    assert SEAL not in html
    assert [field(html, name) for name in ("hide", "pad", "nonce", "hash")] == [""] * 4
    assert "is opened after the hit" in texts(html)
    assert "No seal has been opened at this table yet" in texts(check_page(None, ENGLISH))


def test_board_and_check_page_name_void_seal():
    void = msgspec.structs.replace(DAKOTA, commit=None, withdrawn=(SEAL,), opening=Opening(6, "ee" * 32, 1, "00" * 32))
    assert live_content(void, ENGLISH).seal == SealShown("void", SEAL, "void: never opened")
    assert f"The seal {SEAL[:16]}… is void and stays closed." in texts(check_page(void, ENGLISH))
    again = live_content(msgspec.structs.replace(void, commit="ab" * 32), ENGLISH).seal
    assert again == SealShown("sealed", "ab" * 32, f"not yet opened · {SEAL[:16]}… is void")


@pytest.mark.parametrize("name", ["dakota", "ojibwe", "slahal"])
def test_void_seal_stays_until_hide_opens_or_ends(name):
    game = registry.game(name)
    story = blank(game)
    for fact, withdrawn in (
        (Commit(1.0, 1, SEAL), ()),
        (CommitmentWithdrawn(2.0, "the bead moved"), (SEAL,)),
        (Commit(3.0, 1, "ab" * 32), (SEAL,)),
        (CommitmentWithdrawn(3.2, "the bead moved"), (SEAL, "ab" * 32)),
        (Commit(3.4, 1, "12" * 32), (SEAL, "ab" * 32)),
        (Reveal(4.0, 1, 2, "cd" * 32), ()),
        (Commit(5.0, 1, "ef" * 32), ()),
        (CommitmentWithdrawn(6.0, "the judge set the table"), ("ef" * 32,)),
        (BeadShown(7.0), ()),
    ):
        story = apply(game, story, fact)
        assert view_of(game, story, 1).withdrawn == withdrawn, fact
    opening = view_of(game, story, 1).opening
    assert (opening.hash, opening.withdrawn) == ("12" * 32, (SEAL, "ab" * 32))
    said = texts(check_page(view_of(game, story, 1), ENGLISH))
    assert all(f"The seal {seal[:16]}… is void and stays closed." in said for seal in (SEAL, "ab" * 32))


@pytest.mark.parametrize(("game", "pad"), [("dakota", 3), ("ojibwe", 1), ("slahal", 13)])
def test_the_shells_line_gives_the_seal(game, pad):
    bound = CommitmentContext("Ann's %d table|", "0f" * 16, 41)
    nonce = hashlib.sha256(game.encode()).digest()
    seal = commitment(game, 12, pad, nonce, bound)
    view = DAKOTA if game == "dakota" else play(game, 1, 4)
    view = msgspec.structs.replace(view, opening=Opening(12, seal, pad, nonce.hex(), *bound))
    line = re.search(r"<pre[^>]*><code[^>]*>(.*?)</code>", check_page(view, ENGLISH), re.DOTALL)[1]
    script = html.unescape(line)
    script = script.replace("xxd -r -p", "python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(input()))'")
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split()[0] == seal


@pytest.mark.parametrize("name", ["hit", *ALL])
def test_pages_credit_the_written_source_of_the_game(web, feed, name):
    assert "Written source" not in find_page([], PageSettings(), ENGLISH), "before there is a table"
    view = PHASES[name]
    feed.publish(view)
    source = f"Written source of the rules: {registry.game_class(view.game).source}"
    for path in ("/", "/room", "/find"):
        assert source in texts(html.unescape(web.get(path).text)), path
    assert source not in texts(html.unescape(web.get("/overlay").text))


def test_pronunciation_appears_with_its_credit(web, feed):
    feed.publish(msgspec.structs.replace(DAKOTA, calls=("it_stays",)))
    assert all("Grady Renville’s booklet" not in texts(web.get(path).text) for path in ("/", "/room"))
    feed.publish(msgspec.structs.replace(DAKOTA, calls=("sahdogan",)))
    for path in ("/", "/room"):
        said = texts(web.get(path).text)
        assert "Sahdogan shaw-ha-doe-gaa, the n silent · “eight”" in said
        assert "The sounds are as Grady Renville’s booklet gives them: close to the Dakota" in said


def test_find_page_links_console_if_judges_are_enabled():
    where = ["http://192.0.2.7:8080"]
    assert "http://192.0.2.7:8080/judge" in find_page(where, PageSettings(), ENGLISH, more={"/judge"})
    assert "/judge" not in find_page(where, PageSettings(), ENGLISH)


def rules_page_of(game, options=None, **referee):
    return texts(unescape(rules_page(registry.game(game, options or {}), RefereeSettings(**referee), ENGLISH)))


@pytest.mark.parametrize("name", registry.names())
def test_rules_page_says_every_option_with_its_value(name):
    said = rules_page_of(name)
    kind = registry.game_class(name)
    game = registry.game(name)
    for option in kind.options:
        value = game.settings[option.name]
        chosen = option.rules[option.choices.index(value)] if isinstance(option, Choice) else option.about.rstrip(".")
        assert chosen in said
        assert option.name.replace("_", " ") not in said or "_" not in option.name
    assert kind.source in said
    assert ("How the mat helps the judge" in said) == (kind.hidden is not None)


def test_rules_page_names_source_of_chosen_option():
    assert "Owens" in rules_page_of("patol", {"throws": "zuni_1891"})
    assert "Owens" not in rules_page_of("patol")
    assert "Isleta" in rules_page_of("patol")
    assert "Hinckley, Minnesota" in rules_page_of("bageswin", {"table": "hinckley_2009"})


def test_rules_page_has_customs_and_the_nearest_pads():
    dakota = rules_page_of("dakota", nearest=(2, 3, 1, 4))
    assert dakota.count("unwritten rule") == 2
    assert "2, 3, 1, 4" in dakota
    assert "(Trickery)" in rules_page_of("slahal")


def test_rules_are_served_and_linked_with_their_route(feed, visit):
    in_force = lambda: (registry.game("dakota", {"points": 3}), RefereeSettings())  # noqa: E731
    feed.publish(PHASES["show"])
    for more, served in (([rules_route(in_force, ENGLISH)], 200), ([], 404)):
        web = visit(WebServer(feed, more=more))
        assert web.get("/rules").status_code == served
        assert ('href="/rules"' in web.get("/").text) == (served == 200)
        assert ("/rules" in web.get("/find").text) == (served == 200)
