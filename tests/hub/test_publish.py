"""The results as a site of files: opened from a folder, with all sheets, without a server and without scripts."""

import io
import time
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from hub_site import Site
from hub_venue import TEAMS, Venue
from printed import need_pango, read_pdf

from pi_controller.cli.hub import hub as main
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.publish import PublishError, publish_store
from pi_controller.record.file import read


@pytest.fixture
def site(where, tmp_path, capsys):
    """Return the site of a tournament with one match played at a table, while its hub runs."""
    with closing(Venue(where, title="Cup <b>of</b> the lake")) as venue:
        venue.play_match(tmp_path)
        out = tmp_path / "site"
        for _ in range(2):  # an earlier publication is replaced
            assert main(["publish", str(tmp_path), str(out)]) == 0
    assert "1 score sheets" in capsys.readouterr().out
    return out


def test_site_has_every_game_that_ended(site):
    index = (site / "index.html").read_text("utf-8")
    assert all(team in index for team in TEAMS)
    assert "Cup &lt;b&gt;of&lt;/b&gt; the lake" in index
    assert "<script" not in index
    (sheet,) = (site / "games").glob("*.html")
    assert f"games/{sheet.stem}.html" in index
    assert TEAMS[0] in sheet.read_text("utf-8")
    record = read(sheet.with_suffix(".record").read_bytes())
    assert not record.faults
    assert TEAMS[0] in (site / "results.csv").read_text("utf-8-sig")


def test_publish_refuses_to_overwrite_other_files(tmp_path):
    store, mine = tmp_path / "hub.sqlite", tmp_path / "photos"
    with Inbox(store) as inbox, TournamentLog(store) as log:
        Director(log, inbox)
    mine.mkdir()
    (mine / "lake.jpg").write_bytes(b"picture")
    with pytest.raises(PublishError):
        publish_store(store, mine, time.time)
    assert [path.name for path in mine.iterdir()] == ["lake.jpg"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(PublishError):
        publish_store(store, tmp_path / "file", time.time)
    assert publish_store(store, tmp_path / "new", time.time) == 0


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["A4", "letter"])
def test_hub_prints_its_sheets_and_every_game(paper, tmp_path, capsys, where):
    need_pango()
    with closing(Venue(where, title="Cup <b>of</b> the lake")) as venue:
        venue.play_match(tmp_path)
        assert main(["print", str(tmp_path), str(tmp_path / "sheets"), "--paper", paper]) == 0
    pages = {Path(line).stem: read_pdf(Path(line)) for line in capsys.readouterr().out.split()}
    (game,) = pages.keys() - {"bracket", "start-list", "results"}
    assert "Captain of Big Coulee (A)" in pages[game][0].text
    assert "Cup <b>of</b> the lake" in pages["bracket"][0].text
    assert [one for one in pages["bracket"] if one.text.startswith("Standings")]
    assert "Signatures of both captains" in pages["start-list"][0].text
    assert "Every game" in pages["results"][-1].text
    short = {"A4": 210, "letter": 216}[paper]
    for one in (page for some in pages.values() for page in some):
        assert short in one.size
        assert one.is_whole
        assert one.fonts & {"Mat-Sans", "Noto-Sans"}
        assert "All boards" not in one.text


def test_director_downloads_the_site(tmp_path):
    site = Site(tmp_path)
    try:
        assert site.web.get("/director/results.zip").status_code == 401
        site.drawn()
        answer = site.web.get("/director/results.zip")
        assert answer.status_code == 200
        names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
        assert {"results/index.html", "results/results.csv", "results/static/style.css"} <= set(names)
    finally:
        site.close()
