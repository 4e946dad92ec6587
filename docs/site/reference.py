"""Makes the reference of what Doxygen found in the public headers: a page for each header."""

import html
import pathlib
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

import pages

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = {"variable"}
ENDS = re.compile(r"^\s*(#|$)|[;{}:/]$")  # A line that no declaration goes on from.
TITLES = {"param": "Parameters", "templateparam": "Template parameters", "exception": "Throws"}
SECTIONS = {"return": "Returns", "note": "Note", "warning": "Warning", "see": "See also"}


def flat(element):
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def run_doxygen(root, folder):
    """Fills the folder with XML. Returns a line for each complaint."""
    config = (HERE / "Doxyfile").read_text("utf-8") + f'OUTPUT_DIRECTORY = "{folder}"\n'
    command = ["doxygen", "-"]
    outcome = subprocess.run(
        command, cwd=root, input=config, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    if outcome.returncode:
        raise RuntimeError(f"doxygen failed: {outcome.stderr}")
    lines = []
    for line in outcome.stderr.replace(f"{root}/", "").splitlines():
        if lines and line.startswith(" "):
            lines[-1] += line
        elif line:
            lines.append(line.replace(" warning: ", " "))
    return lines


class Entity:
    """A public name, or several overloads of it, with its comment."""

    def __init__(self, element, scope):
        self.kind = element.get("kind")
        name = element.findtext("compoundname") or element.findtext("name")
        self.name = re.sub(r"^.*::(?=[^:])", "", name) if element.tag == "compounddef" else name
        self.scope = scope  # Of the namespace redlock itself it is empty.
        self.elements = [element]
        self.members = []
        location = element.find("location")
        self.header = location.get("file")
        self.line = int(location.get("line"))

    @property
    def qualified(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name

    @property
    def anchor(self):
        spelled = self.qualified.replace("operator<<", "operator-print")
        spelled = spelled.replace("operator<=>", "operator-compare")
        spelled = spelled.replace("operator=", "operator-assign").replace("~", "destroy-")
        return re.sub(r"[^\w-]+", "-", spelled).strip("-")

    @property
    def is_type(self):
        return self.kind in ("class", "struct", "enum")


def is_public(element):
    """Whether it is for users: what is deleted, or speaks of detail in its types, is not."""
    arguments = element.findtext("argsstring") or ""
    is_destructor = (element.findtext("name") or "").startswith("~")
    if arguments.endswith("=delete") or (is_destructor and arguments.endswith("=default")):
        return False
    if element.get("prot") != "public" or "detail::" in (element.findtext("name") or ""):
        return False
    types = [element.find("type")] if element.get("kind") == "variable" else []
    types += [param.find("type") for param in element.findall("param")]
    return not any("detail::" in flat(each) for each in types)


def gather(members, scope):
    """Entities of the elements, the overloads of a name in one."""
    found = {}
    for element in filter(is_public, members):
        entity = Entity(element, scope)
        same = found.setdefault((entity.name, entity.header), entity)
        if same is not entity:
            same.elements.append(element)
    return sorted(found.values(), key=lambda entity: entity.line)


class Reference:
    """The public names of the library, by header."""

    def __init__(self, root):
        self.root = root
        self.headers = {}  # Path of a header: its entities, in the order of the file.
        self.targets = {}  # Doxygen's id: page and anchor.
        self.names = {}    # Qualified name: page and anchor.
        self.source = {}
        with tempfile.TemporaryDirectory() as folder:
            self.findings = run_doxygen(root, folder)
            files = sorted(pathlib.Path(folder, "xml").glob("*.xml"))
            compounds = [c for f in files for c in ElementTree.parse(f).findall("compounddef")]
        for compound in compounds:
            self.take(compound)
        for entities in self.headers.values():
            entities.sort(key=lambda entity: entity.line)
        self.name_all()
        self.find_undocumented()

    def take(self, compound):
        name = compound.findtext("compoundname")
        kind = compound.get("kind")
        ours = name.startswith("redlock") and "::detail" not in name
        if not ours or kind not in ("namespace", "class", "struct"):
            return
        scope = name.split("::")[1:]
        members = compound.findall("sectiondef/memberdef")
        if kind == "namespace":
            for entity in gather(members, "::".join(scope)):
                self.headers.setdefault(entity.header, []).append(entity)
        else:
            entity = Entity(compound, "::".join(scope[:-1]))
            entity.members = gather(members, "::".join(scope))
            self.headers.setdefault(entity.header, []).append(entity)

    @staticmethod
    def page(header):
        short = re.sub(r"^include/redlock/|^include/|\.hpp$", "", header)
        return f"reference/{short}.html"

    def find_undocumented(self):
        """Doxygen itself would not tell of default constructors, nor of names in a namespace."""
        for entities in self.headers.values():
            for entity in [e for each in entities for e in [each, *each.members]]:
                for element in entity.elements:
                    self.require_comment(element, entity.qualified)
                    for value in element.findall("enumvalue"):
                        name = f"{entity.qualified}::{value.findtext('name')}"
                        self.require_comment(value, name, element)

    def require_comment(self, element, name, located=None):
        parts = ("briefdescription", "detaileddescription")
        if not any(flat(element.find(part)) for part in parts):
            location = (element if located is None else located).find("location")
            where = f"{location.get('file')}:{location.get('line')}"
            self.findings.append(f"{where}: {name} has no comment")

    def name_all(self):
        for header, entities in self.headers.items():
            for entity in [e for each in entities for e in [each, *each.members]]:
                place = f"{self.page(header)}#{entity.anchor}"
                self.names.setdefault(entity.qualified, place)
                for element in entity.elements:
                    self.targets[element.get("id")] = place
                    for value in element.findall("enumvalue"):
                        name = value.findtext("name")
                        of_value = f"{place}-{name}"
                        self.targets[value.get("id")] = of_value
                        self.names.setdefault(f"{entity.qualified}::{name}", of_value)

    def declaration(self, element):
        """The lines of the header that declare it, from its template to before its body."""
        location = element.find("location")
        file = location.get("file")
        if file not in self.source:
            self.source[file] = (self.root / file).read_text("utf-8").splitlines()
        lines = self.source[file]
        first = int(location.get("line")) - 1
        while not ENDS.search(re.sub(r"\s*//.*$|\s+$", "", lines[first - 1])):
            first -= 1
        text = "\n".join(lines[first : first + 40])
        indent = re.match(r" *", text)[0]
        text = re.sub(rf"^{indent}", "", text, flags=re.M)
        return cut(text, element.get("kind"))


def cut(text, kind):
    """A declaration without comments, attributes, body, and what only we use."""
    text = re.sub(r"\s*//[^\n]*", "", text)
    depth = 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        ends = ";" if kind in ("variable", "typedef") else ";{"
        initializer = re.match(r"\s*:\s", text[at:]) and character in " \n"
        if depth == 0 and (character in ends or (kind == "function" and initializer)):
            text = text[:at]
            break
    text = re.sub(r"\[\[nodiscard\]\] ", "", text.rstrip())
    text = re.sub(r"{}$", "", text)
    return re.sub(r"\bdetail::[\w:]+<.*>", "/* see below */", text)


class Writer:
    """Makes HTML of a page of the reference."""

    def __init__(self, reference, site, header):
        self.reference = reference
        self.site = site
        self.header = header
        self.page = reference.page(header)
        self.sections = []
        self.level = 3  # Of the headings in the comment that is written.

    def link(self, target, content):
        return f'<a href="{pages.relative(target, self.page)}">{content}</a>'

    def write(self):
        short = self.header.removeprefix("include/")
        out = [f"<h1><code>&lt;{short}&gt;</code></h1>\n"]
        source = self.link(f"source/{self.header}.html", "source")
        also = "" if short != "redlock/testing.hpp" else "link <code>redlock::testing</code>, "
        umbrella = " or <code>&lt;redlock.hpp&gt;</code>" if self.is_under_umbrella(short) else ""
        include = f"{also}include <code>&lt;{short}&gt;</code>{umbrella}"
        out.append(f'<p class="where">{include} · {source}</p>\n')
        for entity in self.reference.headers[self.header]:
            out.append(self.entity(entity))
        return "".join(out)

    def is_under_umbrella(self, short):
        umbrella = (self.reference.root / "include/redlock.hpp").read_text("utf-8")
        return f"#include <{short}>" in umbrella

    def entity(self, entity):
        title = f"<code>{html.escape(entity.qualified)}</code>"
        self.sections.append((2, entity.anchor, html.escape(entity.qualified)))
        out = [pages.heading(2, entity.anchor, title)]
        for element in entity.elements:
            if not entity.is_type or entity.kind == "enum":
                out.append(pages.declaration(self.reference.declaration(element), "cpp"))
            else:
                out.append(pages.declaration(f"{entity.kind} {entity.name};", "cpp"))
            out.append(self.comment(element))
            out.append(self.values(entity, element))
        fields = [member for member in entity.members if member.kind in FIELDS]
        others = [member for member in entity.members if member.kind not in FIELDS]
        out.append(self.fields(fields))
        out.append(self.summary(others))
        out += [self.member(member) for member in others]
        return "".join(out)

    def values(self, entity, element):
        items = ""
        for value in element.findall("enumvalue"):
            name = value.findtext("name")
            code = f"<code>{name}</code>"
            items += self.term(f"{entity.anchor}-{name}", f"{entity.qualified}::{name}", code)
            items += f"<dd>{self.comment(value)}</dd>\n"
        return f'<dl class="names">\n{items}</dl>\n' if items else ""

    def fields(self, members):
        items = ""
        for member in members:
            code = pages.highlight(
                self.reference.declaration(member.elements[0]), "cpp", nowrap=True
            ).rstrip()
            items += self.term(member.anchor, member.qualified, f"<code>{code}</code>")
            items += f"<dd>{self.comment(member.elements[0])}</dd>\n"
        return f'<dl class="names">\n{items}</dl>\n' if items else ""

    @staticmethod
    def term(anchor, name, code):
        """A name in a list, which search finds by its whole name."""
        return f'<dt id="{anchor}" data-name="{html.escape(name)}">{code}</dt>\n'

    def summary(self, members):
        rows = ""
        for member in members:
            name = f'<a href="#{member.anchor}"><code>{html.escape(member.name)}</code></a>'
            rows += f"<tr><td>{name}</td><td>{self.first_sentence(member.elements[0])}</td></tr>\n"
        return f'<div class="scroll summary"><table>\n{rows}</table></div>\n' if rows else ""

    def first_sentence(self, element):
        for part in ("briefdescription", "detaileddescription"):
            for para in element.findall(f"{part}/para"):
                text = flat(para)
                if text:
                    return html.escape(re.split(r"(?<=[.:;])\s", text)[0].rstrip(":;"))
        return ""

    def member(self, member):
        self.sections.append((3, member.anchor, html.escape(member.name)))
        title = f"<code>{html.escape(member.qualified)}</code>"
        out = [pages.heading(3, member.anchor, title)]
        self.level = 4
        for element in member.elements:
            out.append('<div class="member">\n')
            out.append(pages.declaration(self.reference.declaration(element), "cpp"))
            out.append(self.comment(element) + "</div>\n")
        self.level = 3
        return "".join(out)

    def comment(self, element):
        parts = ("briefdescription", "detaileddescription")
        found = [element.find(part) for part in parts]
        return "".join(self.inside(each) for each in found if each is not None)

    def inside(self, element):
        out = self.text(element.text)
        for child in element:
            out += self.convert(child) + self.text(child.tail)
        return out

    def text(self, text):
        """Text of a comment. Pages that it names become links."""
        def page(found):
            place = self.site.place(found[0])
            return self.link(place, found[0]) if place else found[0]
        return re.sub(r"\bdocs/[\w/-]+\.md\b", page, html.escape(text or ""))

    def convert(self, element):
        convert = getattr(self, f"on_{element.tag}", None)
        return convert(element) if convert else self.inside(element)

    def on_para(self, element):
        # Doxygen puts lists and sections into paragraphs; HTML has them beside.
        blocks = r"(<(?:h[34]|ul|ol|dl|pre|div)\b.*?</(?:h[34]|ul|ol|dl|pre|div)>)"
        within = self.inside(element).strip()
        if not re.search(blocks, within, re.S):
            return f"<p>{within}</p>\n" if within else ""
        out, text = "", ""
        for child in [None, *element]:
            made = self.text(element.text) if child is None else self.convert(child)
            if child is not None and re.match(r"\s*<(h[34]|ul|ol|dl|pre|div)\b", made):
                out += (f"<p>{text.strip()}</p>\n" if text.strip() else "") + made
                text = self.text(child.tail)
            else:
                text += made + (self.text(child.tail) if child is not None else "")
        return out + (f"<p>{text.strip()}</p>\n" if text.strip() else "")

    def on_computeroutput(self, element):
        return f"<code>{self.inside(element)}</code>"

    def on_emphasis(self, element):
        return f"<em>{self.inside(element)}</em>"

    def on_bold(self, element):
        return f"<strong>{self.inside(element)}</strong>"

    def on_ref(self, element):
        target = self.reference.targets.get(element.get("refid"))
        content = self.inside(element)
        return self.link(target, content) if target else content

    def on_ulink(self, element):
        return f'<a href="{html.escape(element.get("url"))}">{self.inside(element)}</a>'

    def on_itemizedlist(self, element):
        return f"<ul>\n{self.inside(element)}</ul>\n"

    def on_orderedlist(self, element):
        return f"<ol>\n{self.inside(element)}</ol>\n"

    def on_listitem(self, element):
        return f"<li>{self.inside(element)}</li>\n"

    def part(self, title):
        """The heading of a part of a comment."""
        return f'<h{self.level} class="part">{html.escape(title)}</h{self.level}>\n'

    def on_simplesect(self, element):
        title = element.findtext("title") or SECTIONS.get(element.get("kind"), element.get("kind"))
        body = "".join(self.convert(c) for c in element if c.tag != "title")
        return f"{self.part(title)}{body}"

    def on_parameterlist(self, element):
        items = ""
        for item in element.findall("parameteritem"):
            names = ", ".join(flat(n) for n in item.iter("parametername"))
            items += f"<dt><code>{html.escape(names)}</code></dt>\n"
            items += f"<dd>{self.inside(item.find('parameterdescription')).strip()}</dd>\n"
        title = TITLES.get(element.get("kind"), element.get("kind"))
        return f'{self.part(title)}<dl class="names">\n{items}</dl>\n'

    def on_programlisting(self, element):
        for space in element.iter("sp"):
            space.text = " "
        lines = ["".join(line.itertext()) for line in element.findall("codeline")]
        return pages.block("\n".join(lines) + "\n", "cpp")

    def on_table(self, element):
        rows = ""
        for row in element.findall("row"):
            cells = ""
            for entry in row.findall("entry"):
                tag = "th" if entry.get("thead") == "yes" else "td"
                inner = re.sub(r"^<p>(.*)</p>\n?$", r"\1", self.inside(entry).strip(), flags=re.S)
                cells += f"<{tag}>{inner}</{tag}>"
            rows += f"<tr>{cells}</tr>\n"
        return f'<div class="scroll"><table>\n{rows}</table></div>\n'
