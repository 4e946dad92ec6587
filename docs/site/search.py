"""Makes the index that site.js searches: the sections of the pages, with their text.

It is a script that sets a variable, because a page at file:// must not fetch files.
"""

import html.parser
import json
import re

# Words of other libraries, which people type, and our words for the same.
SYNONYMS = {
    "auth": ["password", "ACL"],
    "certificate": ["TLS"],
    "docker": ["container"],
    "election": ["leader", "lead"],
    "expired": ["lost", "expires"],
    "failover": ["Sentinel", "master"],
    "heartbeat": ["extend", "with_lock"],
    "install": ["add"],
    "k8s": ["Kubernetes"],
    "logging": ["observer"],
    "mock": ["testing"],
    "monitoring": ["metrics", "observer"],
    "mutex": ["first lock", "with_lock"],
    "refresh": ["extend"],
    "renew": ["extend"],
    "ssl": ["TLS"],
    "synchronous": ["blocking"],
    "timeout": ["time limit", "deadline"],
    "trylock": ["try"],
    "unlock": ["release"],
    "watchdog": ["with_lock", "extend"],
    "who": ["owner"],
}
# Weight of a hit, by the group of its page. Most readers use the library, few change it.
WEIGHTS = {"Reference": 0.6, "More": 0.6, "Change the library": 0.5}
INLINE = {"a", "abbr", "b", "code", "em", "i", "kbd", "mark", "s", "span", "strong"}
BETWEEN_CELLS = " · "
SUMMARY = re.compile(r'<div class="scroll summary">.*?</div>', re.S)  # Each is told further down.


class Section:
    def __init__(self, anchor, heading=""):
        self.anchor = anchor
        self.heading = heading
        self.text = ""
        self.code = ""

    def packed(self, page):
        """As the index has it. Of code it has each name that the text has not, once."""
        text = " ".join(self.text.split()).strip(BETWEEN_CELLS)
        names = dict.fromkeys(re.findall(r"[A-Za-z_][\w-]{2,}", self.code))
        code = " ".join(name for name in names if name not in text)
        return [page, self.anchor, " ".join(self.heading.split()), text, code]


class Sections(html.parser.HTMLParser):
    """Cuts the HTML of a page at its headings, and at names that it lists."""

    def __init__(self, title, body):
        super().__init__()
        self.found = [Section("", title)]
        self.around = self.found[0]  # The section that goes on after a list of names.
        self.into = "text"
        self.current = self.around
        self.feed(SUMMARY.sub("", body))

    def begin(self, anchor, heading=""):
        self.current = Section(anchor, heading)
        self.found.append(self.current)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "h1":
            self.into = None
        elif tag in ("h2", "h3", "h4") and "id" in attrs:
            self.begin(attrs["id"])
            self.around, self.into = self.current, "heading"
        elif tag == "dt" and "id" in attrs:
            self.begin(attrs["id"], attrs["data-name"])
            self.into = None
        elif tag == "pre":
            self.into = "code"
        elif attrs.get("class") == "anchor":
            self.into = None
        elif tag not in INLINE:
            self.current.text += " "

    def handle_endtag(self, tag):
        if tag in ("h1", "h2", "h3", "h4", "dt", "pre"):
            self.into = "text"
        elif tag == "dl":
            self.current = self.around
        elif tag in ("td", "th"):
            self.current.text += BETWEEN_CELLS
        if tag not in INLINE:
            self.current.text += " "

    def handle_data(self, data):
        if self.into:
            setattr(self.current, self.into, getattr(self.current, self.into) + data)


class Index:
    """What can be found on the site."""

    def __init__(self):
        self.pages = []
        self.sections = []

    def add(self, place, title, group, body):
        packed = [s.packed(len(self.pages)) for s in Sections(title, body).found]
        self.sections += packed
        self.pages.append([place, title, group, WEIGHTS.get(group, 1)])

    def findings(self):
        """Yields a line for each synonym that leads nowhere."""
        text = " ".join(" ".join(section[2:]) for section in self.sections).lower()
        for word, others in SYNONYMS.items():
            for other in others:
                if other.lower() not in text:
                    yield f"docs/site/search.py: '{word}' stands for '{other}': no page has that"

    def script(self):
        data = {"pages": self.pages, "sections": self.sections, "synonyms": SYNONYMS}
        packed = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return f"const searchIndex = {packed};\n"
