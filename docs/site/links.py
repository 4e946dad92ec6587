"""Finds links of the finished site that lead nowhere, and headings that skip a level.

Other sites are not asked.
"""

import html.parser
import posixpath
import urllib.parse


class Links(html.parser.HTMLParser):
    """What a page refers to, and the places in it that others can refer to."""

    def __init__(self, text):
        super().__init__()
        self.targets = []
        self.places = {""}
        self.twice = []
        self.levels = [0]  # Of the headings.
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.levels.append(int(tag[1]))
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.targets.append(value)
            elif name == "id" or (tag == "a" and name == "name"):
                self.twice += [value] if name == "id" and value in self.places else []
                self.places.add(value)

    def outline_findings(self):
        for above, level in zip(self.levels, self.levels[1:]):
            if level > above + 1:
                yield f"a heading of level {level} comes after one of level {above}"
        if self.levels.count(1) != 1:
            yield f"{self.levels.count(1)} headings of level 1"
        for name in self.twice:
            yield f"two places are named '{name}'"


def check(output, origin):
    """Yields a line for each dead link below the folder. `origin` has what a page was made of."""
    pages = {
        path.relative_to(output).as_posix(): Links(path.read_text("utf-8"))
        for path in output.rglob("*.html")
    }
    for page, links in sorted(pages.items()):
        yield from (f"{origin.get(page, page)}: {each}" for each in links.outline_findings())
        for target in dict.fromkeys(links.targets):
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            place = urllib.parse.unquote(parts.path)
            where = posixpath.normpath(posixpath.join(posixpath.dirname(page), place))
            where = where if place else page
            fragment = urllib.parse.unquote(parts.fragment)
            if not (output / where).is_file():
                yield f"{origin.get(page, page)}: dead link to {target}"
            elif fragment and (where not in pages or fragment not in pages[where].places):
                yield f"{origin.get(page, page)}: no such section: {target}"
