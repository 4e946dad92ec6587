"""Makes the site. See scripts/site.sh."""

import argparse
import html
import pathlib
import re
import shutil
import subprocess
import sys

import links
import pages
import reference

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


def tracked_files():
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    return sorted(n for n in names.decode().split("\0") if n and (ROOT / n).is_file())


def entry(target, text, page):
    current = ' aria-current="page"' if target == page else ""
    return f'<li><a href="{pages.relative(target, page)}"{current}>{text}</a></li>\n'


class Builder:
    """Fills a folder with the site."""

    def __init__(self, output):
        self.output = output
        self.reference = reference.Reference(ROOT)
        self.findings = list(self.reference.findings)
        self.headers = {h: self.reference.page(h) for h in self.reference.headers}
        places = {**self.headers, "include/redlock.hpp": "reference/index.html"}
        self.site = pages.Site(ROOT, tracked_files(), places, self.reference.names)
        self.menu = []  # Title of a group, and its pages as path on the site and HTML.

    def run(self):
        texts = {f: (ROOT / f).read_text("utf-8") for f in self.markdown_files()}
        renderer = pages.Renderer(self.site)
        rendered = {path: renderer.render(path, text) for path, text in texts.items()}
        self.make_menu(texts, rendered)
        for path, (body, title, sections, _) in rendered.items():
            self.write(self.site.place(path), path, title, body, sections)
        self.write_reference()
        self.write_sources()
        shutil.copy(ROOT / "docs/site/site.css", self.output)
        return self.findings + list(links.check(self.output, self.site.origin))

    def markdown_files(self):
        page = re.compile(r"((docs|packaging)/([\w-]+/)*)?[\w-]+\.md")
        return [f for f in self.site.files if page.fullmatch(f)]

    def make_menu(self, texts, rendered):
        listed = re.findall(r"\]\(([\w/-]+\.md)\)", texts[INDEX])
        ordered = dict.fromkeys(f"docs/{name}" for name in listed)
        groups = {title: [] for title in [*GROUPS.values(), "Change the library"]}
        for path in sorted(p for p in rendered if p.startswith("docs/") and p != INDEX):
            if path not in ordered:
                self.findings.append(f"{path}: {INDEX} does not list it")
                ordered[path] = None
        for path in ordered:
            if path not in rendered:
                continue  # A dead link, which is found as such.
            _, title, _, mode = rendered[path]
            if mode not in GROUPS:
                self.findings.append(f"{path}: its first line names none of {', '.join(GROUPS)}")
                mode = "how-to"
            group = "Change the library" if path.startswith("docs/design/") else GROUPS[mode]
            groups[group].append((self.site.place(path), html.escape(title)))
        inner = groups.pop("Change the library")
        inner.append((self.site.place("CONTRIBUTING.md"), "Contributing"))
        self.menu = [*groups.items(), ("Reference", self.reference_entries())]
        self.menu.append(("Change the library", inner))

    def reference_entries(self):
        pairs = sorted(self.headers.items())
        names = [(page, pathlib.PurePath(page).stem) for _, page in pairs]
        return [("reference/index.html", "All names"), *names]

    def menu_of(self, page):
        out = ""
        for title, entries in self.menu:
            items = "".join(entry(target, text, page) for target, text in entries)
            out += f"<h2>{title}</h2>\n<ul>\n{items}</ul>\n" if items else ""
        return out

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
            toc=pages.contents(sections),
        )
        path.write_text(text, "utf-8")

    def write_reference(self):
        for header, page in self.headers.items():
            writer = reference.Writer(self.reference, self.site, header)
            body = writer.write()
            title = header.removeprefix("include/")
            self.write(page, header, title, body, writer.sections)
        body = "<h1>Reference</h1>\n<p>Every public name, by its header.</p>\n"
        for header, page in sorted(self.headers.items()):
            items = "".join(
                f'<li><a href="{pathlib.PurePath(page).name}#{e.anchor}">'
                f"<code>{html.escape(e.qualified)}</code></a> {self.brief(header, e)}</li>\n"
                for e in self.reference.headers[header]
            )
            name = header.removeprefix("include/")
            link = f'<a href="{pathlib.PurePath(page).name}"><code>&lt;{name}&gt;</code></a>'
            body += f"<h3>{link}</h3>\n<ul>\n{items}</ul>\n"
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
