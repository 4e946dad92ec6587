"""Makes HTML of the pages in Markdown, and of the files of the repository that they link to."""

import html
import pathlib
import posixpath
import re
import string
import urllib.parse

import markdown_it
import pygments
import pygments.formatters
import pygments.lexers
import pygments.util

HERE = pathlib.Path(__file__).resolve().parent
PAGE = string.Template((HERE / "page.html").read_text("utf-8"))
PICTURES = {".svg", ".png"}
LEXERS = {"hpp": "cpp", "in": "text", "": "text"}


def highlight(code, language, **options):
    try:
        lexer = pygments.lexers.get_lexer_by_name(LEXERS.get(language, language), stripnl=False)
    except pygments.util.ClassNotFound:
        lexer = pygments.lexers.get_lexer_by_name("text", stripnl=False)
    return pygments.highlight(code, lexer, pygments.formatters.HtmlFormatter(**options))


def block(code, language):
    """Code that readers copy: site.js adds a button to it."""
    return f'<div class="code">{declaration(code, language)}</div>\n'


def declaration(code, language):
    return f"<pre><code>{highlight(code, language, nowrap=True)}</code></pre>\n"


def relative(target, page):
    """How a page of the site, by its path, refers to another one."""
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def heading(level, name, content):
    anchor = f'<a class="anchor" href="#{name}" aria-label="Link to this section">#</a>'
    return f'<h{level} id="{name}">{content}{anchor}</h{level}>\n'


def contents_list(entries):
    """The sections of a page, as level, name and HTML. Too few of them need no list."""
    if len(entries) < 2:
        return ""
    items = "".join(
        f'<li{" class=inner" if level > 2 else ""}><a href="#{name}">{content}</a></li>\n'
        for level, name, content in entries
    )
    return f"<ul>\n{items}</ul>"


def contents(entries):
    """The list beside the text."""
    items = contents_list(entries)
    return f'<nav class="toc" aria-label="On this page">{items}</nav>' if items else ""


def with_contents(body, entries):
    """The body with the list below its title, for screens that are too narrow for one beside."""
    items = contents_list(entries)
    if not items:
        return body
    folded = f"<details><summary>On this page</summary>\n{items}</details>"
    nav = f'<nav class="toc-above" aria-label="On this page">{folded}</nav>\n'
    return body.replace("</h1>\n", f"</h1>\n{nav}", 1)


class Slugs:
    """Names of headings as the usual forges make them, so that links work there and here."""

    def __init__(self):
        self.seen = {}

    def make(self, text):
        slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        count = self.seen.get(slug, 0)
        self.seen[slug] = count + 1
        return f"{slug}-{count}" if count else slug


def text_of(token):
    return "".join(c.content for c in token.children if c.type in ("text", "code_inline"))


class Renderer:
    """Makes HTML of a page in Markdown."""

    def __init__(self, site):
        self.site = site
        self.markdown = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
        rules = self.markdown.renderer.rules
        rules["fence"] = lambda tokens, at, *_: block(tokens[at].content, tokens[at].info.strip())
        rules["table_open"] = lambda *_: '<div class="scroll"><table>\n'
        rules["table_close"] = lambda *_: "</table></div>\n"

    def render(self, path, text):
        """The HTML of the file, its title, its sections, and its mode, if it names one."""
        mode = re.match(r"<!-- mode: ([\w-]+) -->\n", text)
        tokens = self.markdown.parse(re.sub(r"^<!--.*?-->\n", "", text, flags=re.M | re.S))
        title, sections, slugs = path, [], Slugs()
        for at, token in enumerate(tokens):
            if token.type == "heading_open":
                inline = tokens[at + 1]
                name, level = slugs.make(text_of(inline)), int(token.tag[1])
                token.attrSet("id", name)
                if level == 1:
                    title = text_of(inline)
                elif level < 4:
                    sections.append((level, name, html.escape(text_of(inline))))
            elif token.type == "inline":
                self.place_links(token.children, path)
        body = self.markdown.renderer.render(tokens, self.markdown.options, {})
        body = re.sub(r'<h([2-4]) id="([^"]*)">(.*?)</h\1>\n', self.with_anchor, body)
        body = body.replace("<p><img", '<p class="picture"><img')
        # Markdown has no table without a head. One that is empty is none, for those who hear it.
        body = body.replace("<th></th>", "<td></td>")
        body = re.sub(r"<thead>\n<tr>\n(<td></td>\n)+</tr>\n</thead>\n", "", body)
        box = '<input type="checkbox" aria-label="Done">'
        body = body.replace("<li>[ ]", f'<li class="task">{box}')
        return body, title, sections, mode and mode[1]

    @staticmethod
    def with_anchor(found):
        return heading(found[1], found[2], found[3])

    def place_links(self, tokens, path):
        linked = 0
        for at, token in enumerate(tokens):
            linked += token.nesting if token.type.startswith("link_") else 0
            if token.type == "link_open":
                token.attrSet("href", self.site.refer(token.attrGet("href"), path))
            elif token.type == "image":
                token.attrSet("src", self.site.refer(token.attrGet("src"), path))
            elif token.type == "code_inline" and not linked:
                target = self.site.name(token.content)
                if target:
                    page = self.site.place(path)
                    code = html.escape(token.content)
                    token.type = "html_inline"
                    token.content = f'<a href="{relative(target, page)}"><code>{code}</code></a>'


class Site:
    """Where everything is on the site, by its path in the repository."""

    def __init__(self, root, files, headers, names):
        self.root = root
        self.files = set(files)
        self.folders = {parent.as_posix() for f in files for parent in pathlib.Path(f).parents}
        self.headers = headers  # Path of a header: its page of the reference.
        self.names = names      # Public name: its place in the reference.
        self.wanted = set()     # Sources and pictures that a page refers to.
        self.origin = {}        # Path on the site: what it was made of.

    def place(self, path):
        """The path on the site of a file or folder, or None if there is none."""
        if path in self.headers:
            return self.headers[path]
        if path in self.folders:
            return posixpath.normpath(f"source/{path}/index.html")
        if path not in self.files:
            return None
        if path.endswith("README.md"):
            return path[: -len("README.md")] + "index.html"
        if path.endswith(".md"):
            return path[:-3] + ".html"
        if pathlib.PurePath(path).suffix in PICTURES:
            return path
        return f"source/{path}.html"

    def refer(self, link, path):
        """A link of a file, as its page has it. One that leads nowhere stays as it is."""
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or not parts.path:
            return link
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), parts.path))
        place = self.place(target)
        if not place:
            return link
        self.wanted.add(target)
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        return relative(place, self.place(path)) + fragment

    def name(self, code):
        """Where the reference explains a name written in code, or None."""
        bare = re.sub(r"\(\)$", "", code).replace("redlock::", "")
        return self.names.get(bare) if "::" in bare or "_" in bare else None

    def sources(self):
        """The files to show: those that pages refer to, and those in folders that they refer to."""
        below = tuple(f"{path}/" for path in self.wanted if path in self.folders)
        shown = {f for f in self.files if f in self.wanted or f.startswith(below)}
        return sorted(f for f in shown | set(self.headers) if self.is_source(f))

    def is_source(self, path):
        return path in self.headers or (self.place(path) or "").startswith("source/")

    def source(self, path):
        """The HTML of a file of the repository."""
        name = pathlib.PurePath(path)
        language = {"CMakeLists.txt": "cmake"}.get(name.name, name.suffix[1:])
        text = (self.root / path).read_text("utf-8", "replace")
        code = highlight(text, language, linenos="inline", lineanchors="L", anchorlinenos=True)
        return f"<h1>{html.escape(path)}</h1>\n<div class=\"source\">{code}</div>\n"

    def folder(self, path):
        """The HTML of a folder: what is in it."""
        here = self.place(path)
        items = []
        for file in sorted(f for f in self.files if f.startswith(f"{path}/")):
            place = f"source/{file}.html" if file in self.headers else self.place(file)
            if pathlib.PurePath(file).suffix in PICTURES:
                self.wanted.add(file)
            text = html.escape(file[len(path) + 1 :])
            items.append(f'<li><a href="{relative(place, here)}">{text}</a></li>\n')
        return f"<h1>{html.escape(path)}</h1>\n<ul>\n{''.join(items)}</ul>\n"
