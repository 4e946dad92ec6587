"""Finds links of the finished site that lead nowhere. Other sites are not asked."""

import html.parser
import posixpath
import urllib.parse


class Links(html.parser.HTMLParser):
    """What a page refers to, and the places in it that others can refer to."""

    def __init__(self, text):
        super().__init__()
        self.targets = []
        self.places = {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.targets.append(value)
            elif name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)


def check(output, origin):
    """Yields a line for each dead link below the folder. `origin` has what a page was made of."""
    pages = {
        path.relative_to(output).as_posix(): Links(path.read_text("utf-8"))
        for path in output.rglob("*.html")
    }
    for page, links in sorted(pages.items()):
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
