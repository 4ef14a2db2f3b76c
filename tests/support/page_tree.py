"""Read a page: its tags and texts; tags that do not close, and what the pages' policy forbids, fail the test."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Tree(HTMLParser):
    """The tags of a page with their attributes (`tags`), and its texts (`said`)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        assert tag != "style"
        assert not any(name == "style" or name.startswith("on") for name, _ in attrs)
        assert tag != "script" or (dict(attrs).get("src") or "").startswith("/static/")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said.append(data)
