"""The results as a site of files: opened from a folder, with all sheets, without a server and without scripts."""

import io
import time
import zipfile

import pytest
from hub_site import Site
from hub_venue import TEAMS, publish_site

from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.publish import PublishError, publish_store
from pi_controller.hub.store import TournamentLog
from pi_controller.record.file import read


@pytest.fixture
def site(tmp_path, capsys):
    site = publish_site(tmp_path)
    assert "1 score sheets" in capsys.readouterr().out
    return site


def test_the_site_has_every_game_that_ended(site):
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


def test_the_director_takes_the_site_along(tmp_path):
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
