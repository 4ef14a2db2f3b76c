"""The past games of a table on its pages: which are listed, what one shows, and what no address reaches."""

import re
from html import unescape

import pytest
import seats

from pi_controller.display.i18n import ENGLISH
from pi_controller.journal.journal import Journal
from pi_controller.record.file import read
from pi_controller.referee.judge import JudgeAction, JudgeClose, JudgeNewGame
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link
from pi_controller.web import games_page
from pi_controller.web.games_page import games_routes
from pi_controller.web.server import WebServer

BEGUN = 1_793_000_000.0
WICKED = "<img src=x onerror=alert(1)>"
TOSS, MISS = {"do": "toss", "winner": "A"}, {"do": "hit", "found": False}


def sit(journal, game="dakota", options=None, names=("Red", "Blue"), t=BEGUN):
    return seats.sit(journal, game, options or {"points": 1}, dict(zip("AB", names, strict=True)), t)


def play_games(folder, number=1, names=("Red", "Blue")):
    """Play so many games at a table, an hour apart, each archived by the next; A wins them by a point."""
    with Journal(folder / "table.sqlite") as journal:
        table = sit(journal, names=names)
        for n in range(number):
            t = BEGUN + 3600.0 * n
            table.judge(JudgeAction(t + 1.0, TOSS))
            while table.view.phase != "over":
                table.judge(JudgeAction(t + 2.0, MISS))
            table.judge(JudgeNewGame(t + 3600.0))


@pytest.fixture
def browse(tmp_path, feed, visit):
    """Return what makes a visitor of the table's pages; its journal is `table.sqlite`."""
    return lambda: visit(WebServer(feed, more=games_routes(tmp_path / "table.sqlite", ENGLISH)))


def links(html):
    return re.findall(r'href="(/games/[^"]+)"', html)


def says(html):
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", html).split()))


def test_archived_games_are_listed_newest_first(tmp_path, browse):
    play_games(tmp_path, 3)
    web = browse()
    html = web.get("/games").text
    assert len(links(html)) == 3
    assert links(html) == sorted(links(html), reverse=True)
    said = says(html)
    assert said.count("Red – Blue") == said.count("Red wins, 1 to 0") == said.count("Hampa Apena") == 3
    assert "2026-10-2" in said
    assert 'href="/games"' in web.get("/").text
    assert "/games" in web.get("/find").text


def test_empty_list_says_when_games_appear(tmp_path, browse):
    play_games(tmp_path, 0)
    assert "as soon as the next one begins" in browse().get("/games").text


def test_opened_game_shows_its_sheet_and_record(tmp_path, browse):
    play_games(tmp_path)
    web = browse()
    (link,) = links(web.get("/games").text)
    answer = web.get(link)
    assert answer.status_code == 200
    said = says(answer.text)
    assert "Red wins, 1 to 0" in said
    assert said.count("Missed") >= 3
    assert "Obojun" in said
    assert "Red A – Blue B" in said
    assert "points A points B sticks A sticks B middle" in said
    record = unescape(re.search(r"<pre[^>]*>(.*?)</pre>", answer.text, re.DOTALL)[1])
    actions = [move.action for move in read(record.encode()).moves()]
    assert actions[0] == TOSS
    assert actions[1:] == [MISS] * (len(actions) - 1)
    assert "/static/games.css" in answer.text
    assert "@media print" in web.get("/static/games.css").text


def test_other_games_and_forfeits_have_their_own_result(tmp_path, browse):
    with Journal(tmp_path / "table.sqlite") as journal:
        table = sit(journal, "plum_stone", {"counters": 3})
        table.judge(JudgeAction(BEGUN + 1, {"do": "lot", "first": "A"}))
        table.judge(JudgeClose(BEGUN + 2, "B", "no_show", "not there"))
        table.judge(JudgeNewGame(BEGUN + 3))
    web = browse()
    (link,) = links(web.get("/games").text)
    assert "Red wins by forfeit" in says(web.get(link).text)


def test_names_and_lines_are_escaped(tmp_path, browse):
    play_games(tmp_path, names=(WICKED, "\u202eBlue"))
    web = browse()
    pages = [web.get("/games").text, web.get(links(web.get("/games").text)[0]).text]
    for html in pages:
        assert "<img" not in html
        assert "&lt;img" in html
        assert "\u202e" not in html
        assert "<script" not in html
        assert " style=" not in html


def hide_under(folder, pad):
    """Leave the archived journal of a game that broke off while the bead lay under `pad`, after one missed hit."""
    path = folder / "table-2026-11-03-1915.sqlite"
    path.unlink(missing_ok=True)
    with Journal(path, token=bytes) as journal:
        table = sit(journal)
        table.judge(JudgeAction(BEGUN + 1, TOSS))
        t = BEGUN + 2
        events = [Link(t, up=True)]
        for one in (1, 2, 3, 4):
            events += [HandIn(t + one, one, "hider"), HandOut(t + one + 0.5, one, "hider")]
        events += [BeadsAtRest(t + 6, (Bead(pad),)), Button(t + 7, "ready")]
        for event in events:
            table.mat_event(event)
        table.tick(t + 10)
        assert table.view.phase == "hit"
        assert table.view.commit
        return table.view.commit


def test_unfinished_hide_does_not_tell_the_bead(tmp_path, browse):
    seals, pages = set(), set()
    for pad in (1, 2, 3, 4):
        seals.add(hide_under(tmp_path, pad))
        web = browse()
        (link,) = links(web.get("/games").text)
        html = web.get(link).text
        assert "Not finished" in html
        pages.add(html)
    assert len(seals) == 4, "the journals differ"
    assert len(pages) == 1


@pytest.mark.parametrize("address", [
    "/games/table", "/games/2026-11-03-1915.sqlite", "/games/..%2Ftable", "/games/%2e%2e%2fother-2026-11-03-1915",
    "/games/2026-11-03-1915%00", "/games/2026-11-03-1916", "/games/2026-11-03-1917", "/games/2026-11-03-1918",
    "/games/2026-11-03-1915/", "/games/../../etc/passwd", "/games?page=0", "/games?page=2", "/games?page=x",
])  # fmt: skip
def test_no_address_reaches_another_file(tmp_path, browse, address):
    hide_under(tmp_path, 1)
    real = tmp_path / "table-2026-11-03-1915.sqlite"
    (tmp_path / "table-2026-11-03-1916.sqlite").symlink_to(real)
    (tmp_path / "table-2026-11-03-1917.sqlite").mkdir()
    (tmp_path / "other-2026-11-03-1918.sqlite").write_bytes(real.read_bytes())
    web = browse()
    assert len(links(web.get("/games").text)) == 1
    assert web.get(address).status_code == 404


def test_pages_accept_no_post_and_write_nothing(tmp_path, browse):
    play_games(tmp_path, 2)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    web = browse()
    for link in ["/games", *links(web.get("/games").text)]:
        assert web.get(link).status_code == 200
        assert web.post(link, json={}).status_code == 405
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_damaged_and_huge_journals_are_listed_unread(tmp_path, browse, monkeypatch):
    play_games(tmp_path)
    (tmp_path / "table-2026-01-01-1000.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    web = browse()
    html = web.get("/games").text
    assert len(links(html)) == 1
    assert "2026-01-01 10:00 This game cannot be shown here." in says(html)
    assert web.get("/games/2026-01-01-1000").status_code == 503
    monkeypatch.setattr(games_page, "MAX_JOURNAL_BYTES", 100)
    (link,) = links(html)
    assert web.get(link).status_code == 413
    assert links(web.get("/games").text) == []


def test_long_lists_and_sheets_are_cut(tmp_path, browse, monkeypatch):
    play_games(tmp_path, 5)
    monkeypatch.setattr(games_page, "GAMES_A_PAGE", 2)
    monkeypatch.setattr(games_page, "MAX_LINES", 3)
    web = browse()
    counts = [len(links(web.get(f"/games?page={n}").text)) for n in (1, 2, 3)]
    assert counts == [2, 2, 1]
    assert "more lines are in the journal" in web.get(links(web.get("/games").text)[0]).text


def test_opened_game_is_read_once(tmp_path, browse, monkeypatch):
    play_games(tmp_path)
    reads = []
    whole = games_page._read_sheet
    monkeypatch.setattr(games_page, "_read_sheet", lambda path: reads.append(path) or whole(path))
    web = browse()
    (link,) = links(web.get("/games").text)
    for _ in range(3):
        assert web.get(link).status_code == web.get("/games").status_code == 200
    assert len(reads) == 2
