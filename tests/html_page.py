"""A report as a test reads it."""

import re
from html.parser import HTMLParser

__all__ = ["Page", "check_alone", "check_readable"]

VOID = {"meta", "img", "br", "link", "input"}


class Page(HTMLParser):
    """Collects elements and text; fails where elements do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words, self.bold = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if "strong" in self.open and "td" in self.open:
            self.bold.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


def check_alone(text):
    """Fails if a page needs anything beside itself."""
    page = Page(text)
    without_pictures = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "", text)
    assert not re.search(r"(https?:)?//\w|@import|url\(", without_pictures)
    assert not page.all("script")
    assert not page.all("link")
    assert all(a["href"].startswith("#") for a in page.all("a"))
    assert all(i["src"].startswith("data:image/png;base64,") for i in page.all("img"))


def check_readable(text):
    """Fails if someone who cannot see, or jumps about, is left out."""
    page = Page(text)
    assert page.all("html") == [{"lang": "en"}]
    assert all(image["alt"] for image in page.all("img"))
    assert all("scope" in heading for heading in page.all("th"))
    assert len(page.all("h1")) == 1
    ids = {section["id"] for section in page.all("section")}
    assert {a["href"][1:] for a in page.all("a")} == ids
    assert len(page.all("caption")) == len(page.all("table"))
