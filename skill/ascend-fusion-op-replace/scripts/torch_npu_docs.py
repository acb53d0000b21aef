"""What a torch_npu says of its operators, read from its files alone.

Texts come from `_op_plugin_docs.py` or op-plugin's Markdown pages, registered
schemas from the strings of the shared library, of an installation, a folder or a
wheel. Everything is untrusted: sizes are bounded, nothing is imported or run.
Reader answers as `npufuse api --format json` does. Needs Python 3.8 alone.
"""
import ast
import bisect
import glob
import mmap
import os
import re
import shutil
import sys
import zipfile
import zlib

DOCS_NAME = "_op_plugin_docs.py"
LIBRARY_NAME = "lib/libtorch_npu.so"
PUBLIC_DOCS = "https://gitcode.com/Ascend/op-plugin/tree/master/docs/zh/custom_APIs"
MAX_DOCS = 64 << 20
MAX_LIBRARY = 1 << 30
MAX_PAGE = 4 << 20
MAX_PAGES = 20000
MAX_SCHEMA = 16 << 10
BLANK = " \t\r\n"

# Headings as the documents spell them: a heading fills its line.
HEADINGS = {
    "description":
        "功能描述 功能说明 算子功能 功能描述实现 功能实现描述 接口说明",
    "prototype": "接口原型 函数原型",
    "parameters": "参数说明 参数解释 输入说明 参数 关键字参数 输入",
    "outputs": "输出 输出说明 返回值说明 返回值",
    "constraints": "约束说明 约束条件 输入约束 场景限制",
    "formula": "计算公式 计算公式为",
    "products": "支持的型号 支持的芯片型号 产品支持情况",
    "versions": "支持的PyTorch版本 支持版本",
    "examples": "调用示例 示例 单算子模式调用 单算子调用 图模式调用",
}
ROLE_OF = {title: role for role, titles in HEADINGS.items() for title in titles.split()}
NUMBERED = [title for title in ROLE_OF if ROLE_OF[title] == "examples"]  # "示例1"
# "功能描述: text" on one line; of other headings this is a parameter's line.
INLINE = [title for title in ROLE_OF if ROLE_OF[title] in ("description", "formula")]


class NoDocs(Exception):
    """There is no documentation, or it cannot be read; the message says why."""


# Control characters and what reorders a line: nothing that is read steers a terminal.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")


def say(text, file=None):
    print(UNSAFE.sub("?", text), file=file or sys.stdout)


def complain(text):
    say("query_torch_npu_api: %s" % text, file=sys.stderr)


class Entry:
    """The text of one operator, and where it stands."""

    def __init__(self, name, path, first_line, body, markdown=False):
        self.name = name
        self.path = path
        self.first_line = first_line
        self.body = body
        self.markdown = markdown

    def end_line(self):
        return self.first_line + self.body.count("\n")


# ---- texts of _op_plugin_docs.py --------------------------------------------------

QUOTE = re.compile(r"[\"'#]")
TOKEN = re.compile(r'''
    (?P<comment> \#[^\n]*)
  | (?P<string> """ [^"\\]* (?: (?: \\. | "(?!"") ) [^"\\]* )* """
              | \'\'\' [^'\\]* (?: (?: \\. | '(?!'') ) [^'\\]* )* \'\'\' )
  | (?P<open> """ | \'\'\')
  | (?P<short> " [^"\\\n]* (?: \\. [^"\\\n]* )* " | ' [^'\\\n]* (?: \\. [^'\\\n]* )* ' )
''', re.S | re.X)
PREFIX = r"[A-Za-z]{0,2}\Z"  # of a string: r"..."
BETWEEN = re.compile(r"\s*,\s*" + PREFIX, re.A)
CALL = re.compile(r"(?:\A|\n)[A-Za-z_][\w.]*\s*\(\s*" + PREFIX, re.A)
CALL_OF_ATTRIBUTE = re.compile(
    r"(?:\A|\n)[A-Za-z_][\w.]*\s*\(\s*[A-Za-z_][\w.]*\.([A-Za-z_]\w*)\s*,\s*" + PREFIX, re.A)
END_OF_CALL = re.compile(r"\s*,?\s*\)")
PART_OF_CHARACTER = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z")
OPERATOR_NAME = re.compile(r"[A-Za-z_](?:[\w.]{0,198}\w)?", re.A)
NEAR = 300  # characters before a string that are looked at


def literal_text(literal):
    """What is between the quotes; of three quotes as it is written: Python would take
    its LaTeX (`\\frac`) for escapes."""
    if literal[:3] in ('"""', "'''") and len(literal) >= 6:
        return literal[3:-3]
    try:
        return str(ast.literal_eval(literal))
    except (ValueError, SyntaxError):
        return literal


def tokens(source):
    """Strings, comments, and the string that does not end, if there is one."""
    at = QUOTE.search(source)
    while at:
        token = TOKEN.match(source, at.start())
        if token:
            yield token
            if token.lastgroup == "open":
                return
        at = QUOTE.search(source, token.end() if token else at.end())


def called_name(source, before, token):
    """The name in `f("name", TEXT)` or `f(torch_npu.name, TEXT)`; "" if TEXT, which
    is `token`, is no such argument."""
    if not END_OF_CALL.match(source, token.end()):
        return ""
    if before and BETWEEN.match(source[before.end():min(token.start(), before.end() + NEAR)]):
        name = literal_text(before.group())
        head = source[max(0, before.start() - NEAR):before.start()]
        return name if CALL.search(head) and OPERATOR_NAME.fullmatch(name) else ""
    found = CALL_OF_ATTRIBUTE.search(source[max(0, token.start() - NEAR):token.start()])
    return found.group(1) if found else ""


def trimmed(body, first_line):
    """(body, its first line) without empty lines at both ends."""
    while "\n" in body:
        line, rest = body.split("\n", 1)
        if line.strip(" \t") or not rest:
            break
        body, first_line = rest, first_line + 1
    return body.rstrip(" \t\n"), first_line


def decoded(data, path):
    if b"\0" in data:
        raise NoDocs("'%s' has a NUL byte: this is no Python source" % path)
    data = PART_OF_CHARACTER.sub(b"", data)  # a file that was cut may end in one
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NoDocs("'%s' is not UTF-8 at byte %d" % (path, error.start))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_calls(data, path):
    """[Entry] in the order of the file."""
    source = decoded(data, path)
    line_starts = [0] + [match.end() for match in re.finditer("\n", source)]
    entries, before = [], None
    for token in tokens(source):
        if token.lastgroup == "comment":
            continue
        if token.lastgroup == "open":
            complain("'%s' line %d: a string that does not end; the %d texts before it were read"
                     % (path, bisect.bisect(line_starts, token.start()), len(entries)))
            break
        name = called_name(source, before, token)
        before = token
        if name:
            body, line = trimmed(literal_text(token.group()),
                                 bisect.bisect(line_starts, token.start()))
            entries.append(Entry(name, path, line, body))
    if not entries:
        raise NoDocs("'%s' has no texts of operators" % path)
    return entries


def read_bytes(path, limit):
    if os.path.getsize(path) > limit:
        raise NoDocs("'%s' has more than %d bytes" % (path, limit))
    with open(path, "rb") as file:
        return file.read(limit + 1)


# ---- op-plugin's Markdown pages ---------------------------------------------------


def read_page(data, path):
    """The Entry of a page whose title names something of torch_npu; else None."""
    text = data.decode("utf-8-sig", errors="replace").replace("\r", "")
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        title = re.sub(r"[\\`]", "", line.lstrip("# \t").split("<")[0]).rstrip(" \t")
        if title:
            found = re.search(r"torch_npu[.-]([A-Za-z0-9_](?:[\w.]*\w)?)\Z", title, re.A)
            if not found:
                return None
            body = "\n".join(lines[number:]).rstrip(" \t\n")
            return Entry(found.group(1), path, number + 1, body, markdown=True)
    return None


def read_pages(folder):
    entries, seen = [], 0
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.endswith(".md"):
                continue
            seen += 1
            if seen > MAX_PAGES:
                raise NoDocs("'%s' has more than %d Markdown files" % (folder, MAX_PAGES))
            path = os.path.join(root, name)
            entries.append(read_page(read_bytes(path, MAX_PAGE), path))
    entries = sorted(filter(None, entries), key=lambda entry: entry.path)
    if not entries:
        raise NoDocs("'%s' has neither a torch_npu nor pages whose title names something of it"
                     % folder)
    return entries


# ---- the parts of a text ----------------------------------------------------------


def heading_text(line):
    """The line without Markdown's marks, an anchor and the colon at its end."""
    line = line.strip(BLANK).lstrip("#* ").split("<")[0].strip(BLANK).rstrip("*")
    if line.endswith((":", "：")):
        line = line[:-1]
    return line.rstrip("*").strip(BLANK)


def heading_of(line):
    """(role, title, text behind it on the same line); role "" if it is no heading."""
    title = heading_text(line)
    if title in ROLE_OF:
        return ROLE_OF[title], title, ""
    if re.sub(r"[0-9一二三四五六七八九]+\Z", "", title) in NUMBERED:
        return "examples", title, ""
    rest = line.lstrip(BLANK)
    for title in INLINE:
        if rest.startswith((title + ":", title + "：")):
            return ROLE_OF[title], title, rest[len(title) + 1:].lstrip(BLANK)
    return "", "", ""


def section(role, title, start_line, lines, is_inline=False):
    text = "\n".join(lines).rstrip(" \t\n")
    skipped = len(text) - len(re.sub(r"\A(?:[ \t]*\n)+", "", text))
    above = text[:skipped].count("\n") + (1 if title and not is_inline else 0)
    text = text[skipped:]
    end_line = start_line + above + text.count("\n") if text else start_line
    return {"role": role, "title": title, "start_line": start_line, "end_line": end_line,
            "text": text}


def split_sections(entry):
    """Sections in the order of the text, the first without a title."""
    lines = entry.body.split("\n")
    starts, fenced = [("description", "", -1, "")], False
    for i, line in enumerate(lines):
        if line.strip(BLANK).startswith("```"):
            fenced = not fenced
            continue
        role, title, text = ("", "", "") if fenced else heading_of(line)
        # A call in graph mode among the examples is part of them.
        goes_on = starts[-1][0] == role == "examples"
        if role and not goes_on and len(starts) < SECTIONS_MAX:
            starts.append((role, title, i, text))
    found = []
    for (role, title, at, text), (_, _, end, _) in zip(starts, starts[1:] + [("", "", None, "")]):
        part = ([text] if text else []) + lines[at + 1:end]
        found.append(section(role, title, entry.first_line + max(at, 0), part, bool(text)))
    return found


# More than any text has; what goes beyond is part of the last one.
SIGNATURE_MAX, SIGNATURES_MAX, OPEN_MAX, SECTIONS_MAX = 16384, 64, 256, 1000


def closing(text, at):
    """The index behind the bracket that closes the one before `at`; 0 if none does."""
    depth = 1
    for match in re.compile(r"[()\[\]{}]").finditer(text, at, at + SIGNATURE_MAX):
        depth += 1 if match.group() in "([{" else -1
        if not depth:
            return match.end()
    return 0


class Signatures:
    """What the text of an operator writes down as its call."""

    def __init__(self, entry):
        self.name = entry.name if entry.markdown else entry.name.split(".")[0]
        name = re.escape(self.name)
        # "func: " and "torch_npu.npu." stand before some of them.
        self.call = re.compile(
            r"[ \t]*(?:func: )*(?:torch_npu\.npu\.|torch_npu\.|) *" + name + r"[ \\]*(?:\.out)?\(")
        self.found = []
        self.open = 0  # calls that nothing closes
        self.other = ""  # whose signature the text begins with, if it is another's

    def take(self, text, at=0):
        """The index behind the signature that begins at `at`; `at` if none does."""
        call = self.call.match(text, at)
        if not call or self.open >= OPEN_MAX:
            return at
        end = self.end(text, call.end())
        if not end:
            self.open += 1
            return at
        one_line = re.sub(r"[ \t\n]+", " ", text[at:end]).strip(" ")
        head, bracket, rest = re.sub(r"\A(?:func: )+", "", one_line).partition("(")
        one_line = re.sub(r"[ \\]", "", head) + bracket + rest
        if one_line not in self.found:
            self.found.append(one_line)
        return end

    def take_first(self, text):
        """The index behind the signatures that the text begins with, those of other
        functions, too: a few texts describe two, or one that is not theirs."""
        used = 0
        while len(self.found) < SIGNATURES_MAX:
            at = re.compile(r"[ \t\n]*").match(text, used).end()
            end = self.take(text, at)
            other = re.compile(r"torch_npu\. *(\w+)\(", re.A).match(text, at)
            if end == at and other:
                end = self.end(text, other.end()) or at
                self.other = self.other or (other.group(1) if end > at else "")
            if end == at:
                break
            used = end
        return used

    @staticmethod
    def end(text, at):
        end = closing(text, at)
        if not end:
            return 0
        arrow = re.compile(r"[ \t\n\\]*->[ \t]*").match(text, end)
        if not arrow:
            return end
        behind, end = end, arrow.end()
        if text[end:end + 1] in ("(", "["):
            return closing(text, end + 1) or behind
        line_end = text.find("\n", end)
        return len(text) if line_end < 0 else line_end

    def take_all(self, text):
        at = 0
        while at < len(text) and len(self.found) < SIGNATURES_MAX:
            line_end = text.find("\n", self.take(text, at))
            at = len(text) if line_end < 0 else line_end + 1


def without_title(first, name):
    """A text in Markdown begins with "# torch_npu.npu_x", which says nothing."""
    line, _, rest = first["text"].partition("\n")
    if line.startswith("#") and heading_text(line).endswith(name):
        return dict(first, start_line=first["start_line"] + 1, text=rest)
    return first


def begin(first, signatures):
    """The part before the first heading: a prototype if it begins with the call,
    and a description else."""
    first = without_title(first, signatures.name)
    text = first["text"]
    if not text:
        return []
    used = signatures.take_first(text)
    if not used:
        return [first]
    call = dict(first, role="prototype")
    rest = text[used:].lstrip(" \t\n")
    if not rest:
        return [call]
    call.update(text=text[:used], end_line=first["start_line"] + text[:used].count("\n"))
    lines = text[:len(text) - len(rest)].count("\n")
    return [call, dict(first, text=rest, start_line=first["start_line"] + lines)]


def page_of(entry):
    """(sections, Signatures) of a text."""
    signatures = Signatures(entry)
    sections = split_sections(entry)
    sections[:1] = begin(sections[0], signatures)
    for part in sections:
        if part["role"] == "prototype":
            signatures.take_all(part["text"])
    if not signatures.found:  # texts without a prototype have the call somewhere else
        signatures.take_all(entry.body)
    return sections, signatures


def summary_of(sections):
    """The first line that says what the operator does."""
    for part in sections:
        for line in part["text"].split("\n") if part["role"] == "description" else ():
            line = line.lstrip(" \t-*").rstrip(" \t")
            label = re.match(r"(?:API功能|接口功能|算子功能|功能描述)(?:\*\*)?[：:]", line)
            line = line[label.end():].lstrip(" \t-*") if label else line
            if line:
                return line
    return ""


# ---- schemas of the shared library ------------------------------------------------

A_NAME = r"[A-Za-z_]\w*"
A_TYPE = r" *%s(?:\. *%s)*(?:\?|\([^)]*\)|\[[^\]]*\])*" % (A_NAME, A_NAME)
A_DEFAULT = r" *(?:'[^']*'|\"[^\"]*\"|\[[^\]]*\]|[^,)'\"\[])+"
AN_ARGUMENT = r"(?: *\*|%s(?!\w) *%s(?: *=%s)?) *" % (A_TYPE, A_NAME, A_DEFAULT)
A_RESULT = r"%s(?: *%s)? *" % (A_TYPE, A_NAME)
SCHEMA = re.compile(
    r" *(?:{n} *:: *)?({n})(?: *\. *({n}))? *\( *(?:{a}(?:,{a})*)?\) *-> *"
    r"(?:\( *\)|\({r}(?:,{r})*\)|{r}) *".format(n=A_NAME, a=AN_ARGUMENT, r=A_RESULT), re.A)


def schemas_in(data):
    """Sorted [(name, overload, schema)] of the strings in the bytes of a library."""
    found, at = set(), 0
    while True:
        arrow = data.find(b"->", at)
        if arrow < 0:
            return sorted(found)
        before = re.split(rb"[^ -~]", data[max(0, arrow - MAX_SCHEMA):arrow])[-1]
        after = re.match(rb"[ -~]*", data[arrow:arrow + MAX_SCHEMA]).group()
        at = arrow + max(len(after), 2)
        text = (before + after).decode("ascii").strip(" ")
        schema = SCHEMA.fullmatch(text) if "(" in text and len(text) <= MAX_SCHEMA else None
        if schema:
            found.add((schema.group(1), schema.group(2) or "", text))


def library_schemas(path):
    if os.path.getsize(path) > MAX_LIBRARY:
        raise NoDocs("'%s' has more than %d bytes" % (path, MAX_LIBRARY))
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            raise NoDocs("'%s' is no ELF file (no shared library)" % path)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return schemas_in(data)


# ---- finding ------------------------------------------------------------------------


def version_beside(folder):
    """The version that an installer or a build wrote down beside torch_npu/."""
    for info in sorted(glob.glob(os.path.join(glob.escape(folder), "torch_npu-*.dist-info"))):
        return os.path.basename(info)[len("torch_npu-"):-len(".dist-info")]
    try:
        text = read_bytes(os.path.join(folder, "torch_npu", "version.py"), 1 << 20)
    except (OSError, NoDocs):
        return ""
    found = re.search(rb"^__version__\s*=\s*['\"]([^'\"]*)", text, re.M)
    return found.group(1).decode("utf-8", "replace") if found else ""


class Install:
    """A torch_npu by its files: docs, library, wheel, pages (paths or None)."""

    def __init__(self, path, **files):
        self.path = path
        self.docs = files.get("docs")
        self.library = files.get("library")
        self.wheel = files.get("wheel")
        self.pages = files.get("pages")
        self.version = files.get("version", "")


def package_at(folder):
    """The Install of a folder that is torch_npu itself; None if it is not."""
    docs, library = (os.path.join(folder, name) for name in (DOCS_NAME, LIBRARY_NAME))
    docs, library = (path if os.path.isfile(path) else None for path in (docs, library))
    named = os.path.basename(os.path.abspath(folder)) == "torch_npu"
    if docs or library or (named and os.path.isfile(os.path.join(folder, "__init__.py"))):
        version = version_beside(os.path.dirname(os.path.abspath(folder)))
        return Install(folder, docs=docs, library=library, version=version)
    return None


def file_at(path):
    with open(path, "rb") as file:
        head = file.read(4)
    if path.endswith(".whl") or head == b"PK\3\4":
        part = os.path.basename(path).split("-") if path.endswith(".whl") else []
        return Install(path, wheel=path, version=part[1] if len(part) > 1 else "")
    if head == b"\x7fELF":
        return Install(path, library=path)
    if os.path.basename(path) != DOCS_NAME:
        return Install(path, docs=path)
    beside = package_at(os.path.dirname(path) or ".")
    return Install(path, docs=path, library=beside.library, version=beside.version)


def install_at(path):
    if os.path.isfile(path):
        return file_at(path)
    if os.path.isdir(path):
        inner = os.path.join(path, "torch_npu")
        found = package_at(inner) if os.path.isdir(inner) else None
        return found or package_at(path) or Install(path, pages=path)
    raise NoDocs("no file or folder '%s'" % path)


def packages_below(prefix):
    """The folders of packages of an environment, and those that their .pth name."""
    for folder in sorted(glob.glob(os.path.join(
            glob.escape(prefix), "lib*", "python3*", "*-packages"))):
        yield folder
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.pth"))):
            try:
                lines = read_bytes(path, 1 << 20).decode("utf-8", "replace").splitlines()
            except (OSError, NoDocs):
                continue
            for line in lines:
                if line.strip() and not line.startswith(("#", "import ", "import\t")):
                    yield os.path.join(folder, line.strip())


def search_folders():
    """Where this Python looks, then the environments that are switched on."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in sys.path:
        if os.path.abspath(folder) != here:
            yield folder
    python = shutil.which("python3")
    links = (python, os.path.realpath(python)) if python else ()
    prefixes = [os.path.dirname(os.path.dirname(path)) for path in links]
    for prefix in [os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX")] + prefixes:
        if prefix:
            yield from packages_below(prefix)


def find_install():
    """The first torch_npu; None if there is none."""
    for folder in search_folders():
        inner = os.path.join(folder, "torch_npu")
        found = package_at(inner) if os.path.isdir(inner) else None
        if found:
            return found
    return None


# ---- what is answered here -----------------------------------------------------------


def wheel_member(path, name, limit):
    with zipfile.ZipFile(path) as wheel:
        try:
            info = wheel.getinfo("torch_npu/" + name)
        except KeyError:
            raise NoDocs("'%s' has no 'torch_npu/%s'" % (path, name))
        if info.file_size > limit:
            raise NoDocs("'torch_npu/%s' of '%s' has more than %d bytes" % (name, path, limit))
        with wheel.open(info) as member:  # ends at file_size, whatever the member holds
            return member.read()


def read_entries(install):
    if install.wheel:
        data = wheel_member(install.wheel, DOCS_NAME, MAX_DOCS)
        return read_calls(data, "%s:torch_npu/%s" % (install.wheel, DOCS_NAME))
    if install.pages:
        return read_pages(install.pages)
    if install.docs:
        return read_calls(read_bytes(install.docs, MAX_DOCS), install.docs)
    raise NoDocs("'%s' has no %s (torch_npu 2.1 and before had none); name op-plugin's pages "
                 "with --docs-path" % (install.path, DOCS_NAME))


def read_schemas(install):
    if install.wheel:
        return schemas_in(wheel_member(install.wheel, LIBRARY_NAME, MAX_LIBRARY))
    return library_schemas(install.library) if install.library else []


OTHER_TEXT = ("the text has the signature of '%s' and none of its own: it may describe that "
              "operator")


def holds_all(words, *texts):
    return all(any(word in text for text in texts) for word in words)


def lowered(text):
    return text.encode("utf-8", "surrogatepass").lower()  # of bytes: ASCII letters alone


def score(words, name, summary, body):
    total = 0
    for word in words:
        total += (1000 if word in (name, re.sub(rb"\Anpu_", b"", name)) else
                  100 if word in name.lower() else 10 if word in summary else 1)
    return total if holds_all(words, name.lower(), summary, body) else 0


def distance(a, b):
    """Edits (insert, delete, change a letter) from one word to the other."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for k, y in enumerate(b, 1):
            corner, row[k] = row[k], min(corner + (x != y), row[k] + 1, row[k - 1] + 1)
    return row[-1]


class Reader:
    """Answers as `npufuse api --format json` does, of the members used here."""

    def __init__(self, install):
        self.install = install
        self.entries, self.schemas, faults = [], [], []
        asked_for_library = install.path == install.library
        for read in (self.read_library,) if asked_for_library else (
                self.read_texts, self.read_library):
            try:
                read()
            except (OSError, NoDocs) as error:
                faults.append(str(error))
            except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError,
                    zlib.error) as error:
                faults.append("'%s': %s" % (install.path, error))
        if not self.entries and not self.schemas:
            raise NoDocs(faults[0] if faults else "'%s' has nothing" % install.path)
        for fault in faults:
            complain(fault)
        # Of a name that has two texts the later counts, as in Python.
        self.last = {entry.name: entry for entry in self.entries}

    def read_texts(self):
        self.entries = read_entries(self.install)

    def read_library(self):
        self.schemas = read_schemas(self.install)

    def registered_names(self):
        return list(dict.fromkeys(name for name, _, _ in self.schemas))

    def show(self, name):
        texts = [entry for entry in self.entries if entry.name == name]
        registered = [{"schema": text} for own, _, text in self.schemas if own == name]
        if not texts and not registered:
            return {"found": False, "near": self.near(name), "public_docs": PUBLIC_DOCS}
        sections, calls = page_of(texts[-1]) if texts else ([], Signatures(Entry(name, "", 0, "")))
        wrong = [OTHER_TEXT % calls.other] if calls.other and not calls.found else []
        return {"found": True, "docs": {"path": texts[-1].path if texts else "",
                                        "version": self.install.version},
                "definitions": [{
                    "path": entry.path, "start_line": entry.first_line,
                    "end_line": entry.end_line(), "body": entry.body} for entry in texts],
                "sections": sections, "signatures": calls.found, "registered": registered,
                "disagreements": wrong}

    def near(self, name):
        """Up to five names that are spelled alike or hold the word."""
        word = re.sub(r"\Anpu_", "", name).lower()
        limit = 1 if len(word) < 4 else len(word) // 3
        found = []
        for other in dict.fromkeys(list(self.last) + self.registered_names()):
            plain = re.sub(r"\Anpu_", "", other).lower()
            edits = distance(word, plain) if abs(len(word) - len(plain)) <= limit else limit + 1
            if edits <= limit:
                found.append((edits, other))
            elif word and word in other.lower():
                found.append((limit + 1 + len(other) - len(word), other))
        return [other for _, other in sorted(found)[:5]]

    def search(self, words):
        """Names that hold the words first, then texts that do."""
        words = [lowered(word) for word in words]
        hits = []
        for entry in self.entries:
            name, body = entry.name.encode("utf-8"), lowered(entry.body)
            if self.last[entry.name] is not entry or not holds_all(words, name.lower(), body):
                continue
            summary = summary_of(page_of(entry)[0])
            hits.append((-score(words, name, lowered(summary), body), entry.name,
                         entry.first_line, summary))
        for other in self.registered_names():
            points = score(words, other.encode("utf-8"), b"", b"")
            if points and other not in self.last:
                hits.append((-points, other, 0, ""))
        return {"total": len(hits), "results": [
            {"name": name, "start_line": line, "summary": summary}
            for _, name, line, summary in sorted(hits)]}

    def list(self, prefix):
        names = {name: entry.first_line for name, entry in self.last.items()}
        names = names or dict.fromkeys(self.registered_names(), 0)
        return {"names": [{"name": name, "start_line": line} for name, line in names.items()
                          if name.startswith(prefix)]}
