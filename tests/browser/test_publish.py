"""The published results: opened from a folder, without a server and without scripts."""

from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from hub_venue import TEAMS, publish_site


@pytest.mark.parametrize("size", [(390, 844), (1366, 768)], ids=str)
def test_it_is_read_from_a_folder_without_scripts(tmp_path, chromium, size):
    site = publish_site(tmp_path)
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, java_script_enabled=False)
    page = context.new_page()
    asked, failed = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.goto((site / "index.html").as_uri())
    assert not failed
    assert all(urlsplit(url).scheme == "file" for url in asked)
    assert {unquote(urlsplit(url).path) for url in asked} >= {str(site / "static" / "style.css")}
    page.click("text=to print")
    assert TEAMS[0] in page.content()
    context.close()
    checked = chromium.new_context(viewport={"width": size[0], "height": size[1]})
    page = checked.new_page()
    page.goto((site / "index.html").as_uri())
    page.evaluate(Axe().axe_script)
    assert page.evaluate("axe.run().then(found => found.violations.map(one => [one.id, one.nodes[0].html]))") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    checked.close()
