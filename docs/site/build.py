"""Makes the site. See scripts/site.sh."""

import argparse
import html
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

import links
import pages
import reference
import search

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INDEX = "docs/README.md"
MARK = ".redlock-site"  # Tells that we may empty the folder that it is in.
# What a reader wants, by the mode that a page names in its first line.
GROUPS = {
    "tutorial": "Begin",
    "how-to": "Do",
    "explanation": "Understand",
    "reference": "Look up",
}
# What a page is about says more than its mode.
FOLDERS = {
    "docs/design": "Change the library",
    "examples": "Examples",
    "test": "Change the library",
}
MENU = ["Begin", "Do", "Examples", "Understand", "Look up", "Reference", "Change the library"]


def tracked_files():
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    return sorted(n for n in names.decode().split("\0") if n and (ROOT / n).is_file())


def group_of(path, mode):
    return next((FOLDERS[f] for f in FOLDERS if path.startswith(f"{f}/")), GROUPS[mode])


def entry(target, text, page):
    current = ' aria-current="page"' if target == page else ""
    return f'<li><a href="{pages.relative(target, page)}"{current}>{text}</a></li>\n'


def step(direction, target, text, page):
    """A link to the page before or after this one."""
    words = "Previous" if direction == "prev" else "Next"
    link = f'<a class="{direction}" rel="{direction}" href="{pages.relative(target, page)}">'
    return f"{link}<span>{words}</span> {text}</a>\n"


class Builder:
    """Fills a folder with the site."""

    def __init__(self, output):
        self.output = output
        self.reference = reference.Reference(ROOT)
        self.findings = list(self.reference.findings)
        self.headers = {h: self.reference.page(h) for h in self.reference.headers}
        places = {**self.headers, "include/redlock.hpp": "reference/index.html"}
        self.site = pages.Site(ROOT, tracked_files(), places, self.reference.names)
        self.menu = {}  # Title of a group: its pages as path on the site and HTML.
        self.index = search.Index()

    def run(self):
        texts = {f: (ROOT / f).read_text("utf-8") for f in self.markdown_files()}
        renderer = pages.Renderer(self.site)
        rendered = {path: renderer.render(path, text) for path, text in texts.items()}
        self.make_menu(texts, rendered)
        for path, (body, title, sections, _) in rendered.items():
            self.write_page(self.site.place(path), path, title, body, sections)
        self.write_reference()
        self.write_sources()
        for name in ("site.css", "site.js"):
            shutil.copy(ROOT / "docs/site" / name, self.output)
        (self.output / "search.js").write_text(self.index.script(), "utf-8")
        self.findings += self.index.findings()
        return self.findings + list(links.check(self.output, self.site.origin))

    def markdown_files(self):
        page = re.compile(
            r"((docs|packaging)/([\w-]+/)*)?[\w-]+\.md|(bench|test|examples/[\w-]+)/README\.md"
        )
        return sorted(f for f in self.site.files if page.fullmatch(f))

    def make_menu(self, texts, rendered):
        """Sorts the pages that name a mode into groups, in the order of the index."""
        inner = {p for p in rendered if p.startswith("docs/") or rendered[p][3]} - {INDEX}
        listed = re.findall(r"\]\(([\w./-]+\.md)\)", texts[INDEX])
        listed = [posixpath.normpath(f"docs/{name}") for name in listed]
        ordered = [p for p in dict.fromkeys(listed) if p in inner]
        self.menu = {title: [] for title in MENU}
        for path in [*ordered, *sorted(inner - set(ordered))]:
            if path not in ordered:
                self.findings.append(f"{path}: {INDEX} does not list it")
            _, title, _, mode = rendered[path]
            if mode not in GROUPS:
                self.findings.append(f"{path}: its first line names none of {', '.join(GROUPS)}")
                mode = "how-to"
            entries = self.menu[group_of(path, mode)]
            entries.append((self.site.place(path), html.escape(title)))
        self.menu["Reference"] = self.reference_entries()
        contributing = (self.site.place("CONTRIBUTING.md"), "Contributing")
        self.menu["Change the library"].append(contributing)

    def reference_entries(self):
        pairs = sorted(self.headers.items())
        names = [(page, pathlib.PurePath(page).stem) for _, page in pairs]
        return [("reference/index.html", "All names"), *names]

    def menu_of(self, page):
        out = ""
        for number, (title, entries) in enumerate(self.menu.items()):
            name = f"menu-{number}"
            items = "".join(entry(target, text, page) for target, text in entries)
            listed = f'<ul aria-labelledby="{name}">\n{items}</ul>\n'
            out += f'<p class="group" id="{name}">{title}</p>\n{listed}' if items else ""
        return out

    def steps_of(self, page):
        """Links to the pages before and after it in the menu. The index comes before all."""
        chain = [(self.site.place(INDEX), "Documentation")]
        chain += [pair for entries in self.menu.values() for pair in entries]
        at = next((i for i, (target, _) in enumerate(chain) if target == page), None)
        if at is None:
            return ""
        before = step("prev", *chain[at - 1], page) if at > 0 else ""
        after = step("next", *chain[at + 1], page) if at + 1 < len(chain) else ""
        return f'<nav class="steps" aria-label="Previous and next">\n{before}{after}</nav>'

    def write_page(self, place, origin, title, body, sections=()):
        """Writes a page that search finds."""
        groups = [group for group, entries in self.menu.items() if place in dict(entries)]
        self.index.add(place, title, groups[0] if groups else "More", body)
        self.write(place, origin, title, pages.with_contents(body, sections), sections)

    def write(self, place, origin, title, body, sections=()):
        self.site.origin[place] = origin
        path = self.output / place
        path.parent.mkdir(parents=True, exist_ok=True)
        title = title if title == "redlock" else f"{title} · redlock"
        text = pages.PAGE.substitute(
            root="../" * place.count("/"),
            title=html.escape(title),
            menu=self.menu_of(place),
            content=body,
            steps=self.steps_of(place),
            toc=pages.contents(sections),
        )
        path.write_text(text, "utf-8")

    def write_reference(self):
        for header, page in self.headers.items():
            writer = reference.Writer(self.reference, self.site, header)
            body = writer.write()
            title = header.removeprefix("include/")
            self.write_page(page, header, title, body, writer.sections)
        body = "<h1>Reference</h1>\n<p>Every public name, by its header.</p>\n"
        for header, page in sorted(self.headers.items()):
            items = "".join(
                f'<li><a href="{pathlib.PurePath(page).name}#{e.anchor}">'
                f"<code>{html.escape(e.qualified)}</code></a> {self.brief(header, e)}</li>\n"
                for e in self.reference.headers[header]
            )
            name = header.removeprefix("include/")
            link = f'<a href="{pathlib.PurePath(page).name}"><code>&lt;{name}&gt;</code></a>'
            body += f"<h2>{link}</h2>\n<ul>\n{items}</ul>\n"
        self.write("reference/index.html", "the reference", "Reference", body)

    def brief(self, header, entity):
        writer = reference.Writer(self.reference, self.site, header)
        return writer.first_sentence(entity.elements[0])

    def write_sources(self):
        for path in sorted(p for p in self.site.wanted if p in self.site.folders):
            self.write(self.site.place(path), path, path, self.site.folder(path))
        for path in self.site.sources():
            self.write(f"source/{path}.html", path, path, self.site.source(path))
        for path in self.site.wanted:
            if pathlib.PurePath(path).suffix in pages.PICTURES:
                target = self.output / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, target)


def clear(folder):
    """Makes the folder anew: a page of an earlier run would hide a dead link to it."""
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MARK).is_file():
            sys.exit(f"{folder} is neither empty nor a site made before")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).write_text("")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    clear(options.output)
    findings = Builder(options.output.resolve()).run()
    for finding in findings:
        print(finding)
    sys.exit(1 if options.check and findings else 0)


if __name__ == "__main__":
    main()
