#!/usr/bin/env python3
"""Draws the pictures of the documentation into docs/pictures, as SVG.

usage: scripts/pictures.py [--check]

With --check nothing is written: it names each file that is not what this script draws, each picture
that no page shows, and each page whose alternative text is not the description of the picture. It
exits with 1 if there is one.

A picture is a function below. It draws lanes, in which time runs to the right: spans that last,
events, arrows from lane to lane, and marks through all lanes. A text that meets another text, does
not fit into its span or leaves the picture is an error.
"""

import pathlib
import re
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/pictures"
BENCHMARK = ROOT / "bench/README.md"

WIDTH = 680
RIGHT = 14
SPAN = 34  # Height of a span.
FONT = 19  # Legible on a telephone, where a page shows the picture at half its width.
LETTER = 0.6 * FONT  # As wide as in a wide font.

# Ink, fill and outline of each kind in light and dark: what is held, what is right, what waits,
# what is refused, and what is not there.
LIGHT = {
    "hold": ("#ddf4ff", "#0969da"),
    "good": ("#dafbe1", "#1a7f37"),
    "wait": ("#fff8c5", "#9a6700"),
    "bad": ("#ffebe9", "#cf222e"),
    "none": ("#eff2f5", "#818b98"),
}
DARK = {
    "hold": ("#0c2d6b", "#58a6ff"),
    "good": ("#0f3d1e", "#3fb950"),
    "wait": ("#4b2900", "#d29922"),
    "bad": ("#5d0f12", "#ff7b72"),
    "none": ("#262c36", "#8b949e"),
}


def colours(paper, ink, kinds):
    rules = [f".paper{{fill:{paper}}}", f"text{{fill:{ink}}}", f".bare{{stroke:{paper}}}"]
    rules.append(f".lane{{stroke:{kinds['none'][1]}}}")
    for kind, (fill, line) in kinds.items():
        rules.append(f".{kind}{{fill:{fill};stroke:{line}}}")
        rules.append(f".line.{kind}{{fill:none}}")
        rules.append(f".dot.{kind},.head.{kind}{{fill:{line}}}")
    return "".join(rules)


STYLE = (
    f"text{{font:{FONT}px system-ui,-apple-system,'Segoe UI','Noto Sans',Helvetica,sans-serif}}"
    ".bare{stroke-width:6;stroke-linejoin:round;paint-order:stroke}"
    ".lane{stroke-width:1;opacity:.5}.line{stroke-width:2}.span{stroke-width:1.5}"
    ".mark{stroke-width:1.5;stroke-dasharray:5 5}.dot,.head{stroke:none}"
    + colours("#ffffff", "#1f2328", LIGHT)
    + "@media(prefers-color-scheme:dark){" + colours("#0d1117", "#f0f6fc", DARK) + "}"
)


class Picture:
    """Lanes from top to bottom, and what happens in them from the left to the right.

    Times are of any unit, from 0 to `end`. The description says in words what the picture shows.
    """

    def __init__(self, title, description, lanes, end, pitch=58, top=44):
        self.title, self.description = title, description
        self.lanes = {name: top + pitch * i + pitch // 2 for i, name in enumerate(lanes)}
        self.height = top + pitch * len(lanes) + 8
        self.end, self.top = end, top
        self.left = round(LETTER * max(map(len, lanes))) + 12
        self.behind, self.drawn, self.in_front = [], [], []
        self.texts = []
        for name, y in self.lanes.items():
            self.behind.append(f'<path class="lane" d="M{self.left} {y}H{WIDTH - RIGHT}"/>')
            self.text(self.left - 10, y, name, "end")

    def x(self, time):
        return round(self.left + (WIDTH - RIGHT - self.left) * time / self.end, 1)

    def text(self, x, y, words, anchor="middle", style="bare"):
        """Writes words whose middle is at the height y. Bare ones keep lines behind them away."""
        width = LETTER * len(words)
        start = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        box = (start, y - FONT / 2, start + width, y + FONT / 2)
        if box[0] < 0 or box[2] > WIDTH or box[1] < 0 or box[3] > self.height:
            raise ValueError(f"'{words}' leaves the picture '{self.title}'")
        for other, there in self.texts:
            apart = box[2] <= there[0] or there[2] <= box[0]
            if not apart and box[1] < there[3] and there[1] < box[3]:
                raise ValueError(f"'{words}' meets '{other}' in the picture '{self.title}'")
        self.texts.append((words, box))
        place = f'x="{round(x, 1)}" y="{round(y + 0.35 * FONT, 1)}" text-anchor="{anchor}"'
        self.in_front.append(f'<text class="{style}" {place}>{escape(words)}</text>')

    def label(self, lane, time, words, anchor="start", up=0):
        self.text(self.x(time), self.lanes[lane] - up, words, anchor)

    def span(self, lane, start, stop, words="", kind="hold", at=None):
        """Something that lasts. Its words are in the middle, or around the time `at`."""
        x, width, y = self.x(start), self.x(stop) - self.x(start), self.lanes[lane] - SPAN / 2
        place = f'x="{x}" y="{y}" width="{round(width, 1)}" height="{SPAN}" rx="5"'
        self.drawn.append(f'<rect class="span {kind}" {place}/>')
        if LETTER * len(words) > width:
            raise ValueError(f"'{words}' does not fit in the picture '{self.title}'")
        if words:
            middle = self.x((start + stop) / 2 if at is None else at)
            self.text(middle, self.lanes[lane], words, style="inside")

    def event(self, lane, time, kind="good"):
        """Something that happens: a dot, or a cross if it fails."""
        x, y = self.x(time), self.lanes[lane]
        shape = f'<circle class="dot {kind}" cx="{x}" cy="{y}" r="7"/>'
        if kind == "bad":
            shape = f'<path class="line bad" d="M{x - 6} {y - 6}l12 12m0-12l-12 12"/>'
        self.in_front.append(shape)

    def arrow(self, lane, time, to_lane, to_time, words="", kind="none", side="start"):
        """A message. Its words are beside its middle, on its right side or (`end`) on its left."""
        down = 1 if self.lanes[to_lane] > self.lanes[lane] else -1
        x1, y1 = self.x(time), self.lanes[lane] + down * SPAN / 2
        x2, y2 = self.x(to_time), self.lanes[to_lane] - down * SPAN / 2
        head = f'marker-end="url(#{kind})"'
        self.in_front.append(f'<path class="line {kind}" d="M{x1} {y1}L{x2} {y2}" {head}/>')
        if words:
            beside = 10 if side == "start" else -10
            self.text((x1 + x2) / 2 + beside, (y1 + y2) / 2, words, side)

    def mark(self, time, words, kind="none", anchor="middle"):
        """A moment of all lanes."""
        x = self.x(time)
        line = f'd="M{x} {self.top - 8}V{self.height - 8}"'
        self.behind.append(f'<path class="line mark {kind}" {line}/>')
        self.text(x, self.top - 23, words, anchor)

    def svg(self):
        heads = "".join(
            f'<marker id="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" '
            f'markerHeight="5" orient="auto"><path class="head {kind}" d="M0 0L8 4L0 8Z"/></marker>'
            for kind in LIGHT
        )
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            f'width="{WIDTH}" height="{self.height}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(self.title)}</title>',
            f'<desc id="desc">{escape(self.description)}</desc>',
            f"<style>{STYLE}</style>",
            f"<defs>{heads}</defs>",
            f'<rect class="paper" width="{WIDTH}" height="{self.height}" rx="8"/>',
        ]
        return "\n".join(parts + self.behind + self.drawn + self.in_front + ["</svg>"]) + "\n"


def lease():
    """In seconds, with a ttl of 9 s. The drift would be too narrow to be seen."""
    ttl, third, drift = 9, 3, 0.5
    picture = Picture(
        "A lease: ttl, drift, extensions and loss",
        "Extensions move the deadline. When they fail, the lease is lost at its deadline.",
        ["acquire", "extend", "extend again", "extensions", "lease"],
        end=16.6,
    )
    asked = {"acquire": 0, "extend": third, "extend again": 2 * third}
    for lane, start in asked.items():
        picture.span(lane, start, start + ttl - drift, "ttl")
        picture.span(lane, start + ttl - drift, start + ttl, kind="none")
    picture.label("acquire", ttl + 0.3, "drift, not used")

    deadline = 2 * third + ttl - drift
    attempt = 3 * third
    while deadline - attempt > 0.5:
        picture.event("extensions", attempt, "bad")
        attempt += (deadline - attempt) / 8
    picture.label("extensions", 3 * third - 0.4, "fail, are repeated", "end")
    picture.span("lease", 0.3, deadline, "valid", "good")
    picture.label("lease", deadline + 0.3, "lost")
    for time, words in ((0, "0"), (3, "1/3 ttl"), (6, "2/3 ttl"), (9, "ttl")):
        picture.mark(time, words)
    picture.mark(deadline, "deadline", "bad")
    return picture


def vote_round():
    """Milliseconds that are not to scale: a ttl is thousands of round trips long."""
    ttl, drift, read = 84, 6, 3
    deadline = read + ttl - drift
    picture = Picture(
        "A round: a quorum of five nodes, with a slow one and a dead one",
        "The client asks five nodes at once. Nodes 1, 2 and 5 grant, and the third grant "
        "completes the lease. Node 3 grants later, node 4 is dead. The lease counts from before "
        "the first request, so it ends before any key expires.",
        ["client", "node 1", "node 2", "node 3", "node 4", "node 5"],
        end=121,
    )
    lease_from = 27
    picture.span("client", read, lease_from, kind="none")
    picture.span("client", lease_from, deadline, "lease")
    answers = {
        "node 1": (7, 15, "granted"),
        "node 2": (9, 21, "granted"),
        "node 5": (14, lease_from, "granted: a quorum"),
        "node 3": (26, 40, "granted late"),
    }
    for node, (at, answered, words) in answers.items():
        picture.span(node, at, min(at + ttl, picture.end), words, "good", at=64)
        picture.arrow("client", read + 1, node, at, kind="hold")
        picture.arrow(node, at + 1, "client", answered, kind="good")
    picture.arrow("client", read + 1, "node 4", 10.5, kind="hold")
    picture.event("node 4", 11.5, "bad")
    picture.label("node 4", 58, "dead: no answer", "middle")
    picture.mark(read, "clock read", anchor="start")
    picture.mark(lease_from, "third grant", "good", "start")
    picture.mark(deadline, "deadline", "bad")
    picture.label("node 1", 95, "key expires")
    return picture


def quarantine():
    ttl, asks, asks_again = 100, 68, 122
    picture = Picture(
        "A quarantine after a restart that forgot",
        "Client A holds nodes 2 and 3. Node 3 restarts without the key and enters quarantine, so "
        "client B gets only node 1. Once A's lease is over, B gets nodes 1 and 2.",
        ["client A", "node 1", "node 2", "node 3", "client B"],
        end=180,
    )
    picture.span("client A", 0, ttl - 3, "lease of A")
    picture.span("node 2", 2, 2 + ttl, "key of A", "good", at=35)
    picture.span("node 3", 3, 34, "key of A", "good")
    picture.span("node 3", 34, 53, "down", "bad")
    picture.span("node 3", 53, 53 + ttl + 1, "quarantine", "wait", at=95)
    picture.span("node 3", 53 + ttl + 1, 180, "votes", "good")
    for node in ("node 1", "node 2"):
        picture.span(node, asks_again + 2, 180, "key of B", "good", at=153)
        picture.event(node, asks_again)
    picture.event("node 3", asks_again, "bad")
    picture.span("client B", asks_again + 4, 180, "lease of B", at=154)
    for node, kind in (("node 1", "good"), ("node 2", "bad"), ("node 3", "bad")):
        picture.event(node, asks, kind)
    picture.label("client B", asks + 2, "1 of 3: no lease")
    picture.mark(asks, "B asks")
    picture.mark(asks_again, "B asks again")
    return picture


def fence():
    picture = Picture(
        "A fence that refuses a late write",
        "After B has read with token 7, the store rejects A's late write with token 6.",
        ["A: token 6", "store", "B: token 7"],
        end=100,
        pitch=92,
    )
    picture.span("A: token 6", 2, 18, "lease")
    picture.span("A: token 6", 18, 72, "stopped", "wait", at=31)
    picture.span("A: token 6", 72, 98, "goes on", "bad")
    picture.span("store", 12, 57, "highest seen: 6", "good")
    picture.span("store", 57, 98, "highest seen: 7", "good")
    picture.span("B: token 7", 49, 98, "lease")
    picture.arrow("A: token 6", 10, "store", 12, "reads", "good")
    picture.arrow("B: token 7", 54, "store", 57, "reads", "good", "end")
    picture.arrow("A: token 6", 74, "store", 77, "6: refused", "bad")
    picture.arrow("B: token 7", 82, "store", 85, "7: accepted", "good", "end")
    picture.mark(40, "lease of A ends", "bad")
    return picture


def waiting():
    picture = Picture(
        "Waiting in turn: a line inside a client, a queue on each node",
        "Tasks line up in their client, and clients in a queue on each node. A release reserves "
        "the resource for the first client, which the node wakes.",
        ["client 1", "key", "queue", "client 2", "client 3"],
        end=100,
        pitch=76,
        top=8,
    )
    picture.span("client 1", 2, 44, "lease")
    picture.span("key", 4, 46, "key of client 1", "good")
    picture.span("key", 46, 66, "reserved", "wait")
    picture.span("key", 66, 98, "key of client 2", "good", at=83)
    picture.span("queue", 14, 28, "2", "wait")
    picture.span("queue", 28, 46, "2, 3", "wait")
    picture.span("queue", 46, 98, "3", "wait", at=83)
    picture.span("client 2", 10, 66, "a waits; b, c in line", "wait", at=46)
    picture.span("client 2", 68, 98, "a: lease; b, c")
    picture.span("client 3", 24, 98, "waits in the queue", "wait")
    picture.arrow("client 2", 11, "queue", 14, "asks", "hold")
    picture.arrow("client 3", 25, "queue", 28, kind="hold")
    picture.label("client 3", 23.5, "asks", "end")
    picture.arrow("client 1", 44, "key", 46, "releases", "good")
    picture.arrow("queue", 47, "client 2", 50, "wakes", "good", "end")
    picture.arrow("client 2", 58, "key", 66, kind="hold")
    picture.label("queue", 62, "asks", up=-36)
    return picture


def measured():
    """The rows of the library in the benchmark's table, as (tasks, mode, pairs/s, ratio)."""
    lines = BENCHMARK.read_text("utf-8").split("\n")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    first = next(i for i, row in enumerate(cells) if row[0] == "Tasks at once")
    head = cells[first]
    for row in cells[first + 2 :]:
        if len(row) != len(head):
            return
        found = dict(zip(head, row))
        mode = found["Client"].removeprefix("redlock, ")
        ratio = found["to guarded limit" if mode == "guarded" else "Ratio to limit"]
        if found["Client"].startswith("redlock, "):
            yield found["Tasks at once"], mode, found["pairs/s"], float(ratio)


def benchmark():
    rows = list(measured())
    words = [f"{n} at once, {mode}: {pairs} a second, {r:.2f}" for n, mode, pairs, r in rows]
    picture = Picture(
        "Pairs of acquire and release, as a part of what a bare client does",
        "Pairs of acquire and release on five local servers, each number of tasks in both modes, "
        "and the ratio to a bare client that does the least. " + "; ".join(words) + ".",
        [f"{tasks} at once, {mode}" for tasks, mode, _, _ in rows],
        end=1.05 * max(1, *(ratio for *_, ratio in rows)),
        pitch=48,
    )
    for tasks, mode, pairs, ratio in rows:
        kind = "hold" if mode == "plain" else "good"
        lane = f"{tasks} at once, {mode}"
        picture.span(lane, 0, ratio, f"{ratio:.2f}: {pairs} pairs/s", kind)
    picture.mark(0, "0")
    picture.mark(1, "bare client: 1", anchor="end")
    return picture


PICTURES = {
    "lease": lease,
    "round": vote_round,
    "quarantine": quarantine,
    "fence": fence,
    "waiting": waiting,
    "benchmark": benchmark,
}


def check_pages(pictures):
    """Whether each picture is shown, and by words that say the same."""
    patterns = [
        "README.md",
        "bench/README.md",
        "test/README.md",
        "docs/**/*.md",
        "examples/*/README.md",
    ]
    pages = [page for pattern in patterns for page in sorted(ROOT.glob(pattern))]
    shown = set()
    for page in pages:
        text = page.read_text("utf-8")
        for found in re.finditer(r"!\[([^\]]*)\]\([^)]*pictures/(\w+)\.svg\)", text):
            where = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}"
            shown.add(found[2])
            if found[2] not in pictures:
                yield f"{where}: there is no picture '{found[2]}'"
            elif " ".join(found[1].split()) != pictures[found[2]].description:
                yield f"{where}: the text is not the description in scripts/pictures.py"
    for name in pictures.keys() - shown:
        yield f"docs/pictures/{name}.svg:1: no page shows it"


def check_files(pictures):
    there = {path.stem for path in FOLDER.glob("*")}
    for name in sorted(there | pictures.keys()):
        path = FOLDER / f"{name}.svg"
        if name not in pictures:
            yield f"docs/pictures/{name}.svg:1: scripts/pictures.py does not draw it"
        elif not path.is_file() or path.read_text("utf-8") != pictures[name].svg():
            yield f"docs/pictures/{name}.svg:1: differs, run scripts/pictures.py"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    try:
        pictures = {name: draw() for name, draw in PICTURES.items()}
    except ValueError as wrong:
        sys.exit(f"scripts/pictures.py:1: {wrong}")
    if sys.argv[1:]:
        findings = [*check_files(pictures), *check_pages(pictures)]
        print("".join(finding + "\n" for finding in findings), end="")
        sys.exit(1 if findings else 0)
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures.items():
        (FOLDER / f"{name}.svg").write_text(picture.svg(), "utf-8")


if __name__ == "__main__":
    main()
