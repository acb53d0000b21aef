#!/usr/bin/env python3
"""Fetches the sources that are built into npufuse: tools/fetch.py [NAME...]

What, which version and which hash: requirements/deps.json. From where: the
registries that pip and npm use on this machine. An archive in deps/archives/
is used as it is, so a machine without a network needs only those files. The
members named there are unpacked into deps/, which is not part of the
repository.

Needs Python 3.8 and nothing else, because a build may run before anything is
installed. Running it again costs nothing.
"""
import base64
import configparser
import hashlib
import http.client
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEPS = ROOT / "deps"
MAX_BYTES = 64 << 20
TIMEOUT_S = 60


def fail(text):
    print("fetch: " + text, file=sys.stderr)
    sys.exit(2)


# ---- where the registries are -----------------------------------------------


def pip_config_files():
    home = Path.home()
    named = os.environ.get("PIP_CONFIG_FILE")
    folders = os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")
    yield from (Path(f) / "pip" / "pip.conf" for f in folders)
    yield Path("/etc/pip.conf")
    yield home / ".pip" / "pip.conf"
    yield Path(os.environ.get("XDG_CONFIG_HOME", home / ".config")) / "pip" / "pip.conf"
    yield Path(os.environ.get("VIRTUAL_ENV", sys.prefix)) / "pip.conf"
    if named:
        yield Path(named)


def pip_setting(name):
    """The value that pip would use; the environment wins over the files."""
    value = ""
    for path in pip_config_files():
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "download", "install"):
            value = parser.get(section, name, fallback=value)
    return os.environ.get("PIP_" + name.upper().replace("-", "_"), value)


def output_of(*command):
    """What a command prints, or "" where it fails."""
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             cwd=str(ROOT), timeout=TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return run.stdout.decode("utf-8", "replace").strip()


# Prints the index that pip uses when it is told none. A Python may have pip, or
# carry it for new environments.
ASK_PIP = """
import glob, os, sys
try:
    import pip
except ImportError:
    import ensurepip
    sys.path += glob.glob(os.path.join(os.path.dirname(ensurepip.__file__), "_bundled", "pip-*.whl"))
from pip._internal.models.index import PyPI
print(PyPI.simple_url)
"""


def default_index():
    """The address, or "" where no Python of this machine knows it."""
    pythons = [sys.executable, getattr(sys, "_base_executable", None),
               str(ROOT / ".venv" / "bin" / "python"), "/usr/bin/python3"]
    pythons += [os.path.join(folder, "python3") for folder in os.get_exec_path()]
    for python in dict.fromkeys(filter(None, pythons)):
        found = output_of(python, "-c", ASK_PIP)
        if found:
            return found
    return ""


def pypi_folders():
    """Folders of this machine where pip looks for archives."""
    for place in pip_setting("find-links").split():
        if place.startswith("file:"):
            place = urllib.request.url2pathname(urllib.parse.urlparse(place).path)
        if Path(place).is_dir():
            yield Path(place)


def pypi_pages(name):
    """Addresses of pages that list the archives of a project."""
    if pip_setting("no-index").lower() in ("1", "true", "yes", "on"):
        return
    main = (pip_setting("index-url") or default_index()).split()
    for index in main + pip_setting("extra-index-url").split():
        yield index.rstrip("/") + "/" + name + "/"


def npm_registry():
    for name in ("NPM_CONFIG_REGISTRY", "npm_config_registry"):
        if os.environ.get(name):
            return os.environ[name]
    for path in (ROOT / ".npmrc", Path.home() / ".npmrc", Path("/etc/npmrc")):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found = re.search(r"^\s*registry\s*=\s*(\S+)", text, re.M)
        if found:
            return found.group(1)
    return output_of(shutil.which("npm") or "npm", "config", "get", "registry")


# ---- fetching ---------------------------------------------------------------


def split_login(address):
    """The address without `user:password@`, and the headers that say it."""
    parts = urllib.parse.urlsplit(address)
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return address, {}
    word = base64.b64encode(urllib.parse.unquote(login).encode()).decode()
    return parts._replace(netloc=host).geturl(), {"Authorization": "Basic " + word}


def read(address, tried):
    """The bytes at `address`, or None; why not is added to `tried`."""
    place, headers = split_login(address)
    try:
        request = urllib.request.Request(place, headers=headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            data = answer.read(MAX_BYTES + 1)
    except (OSError, ValueError, http.client.HTTPException) as error:
        tried.append("%s: %s" % (place, error))
        return None
    if len(data) > MAX_BYTES:
        tried.append("%s: more than %d bytes" % (place, MAX_BYTES))
        return None
    return data


def pypi_addresses(dep, tried):
    for folder in pypi_folders():
        if (folder / dep["file"]).is_file():
            yield (folder.resolve() / dep["file"]).as_uri()
    pages = list(pypi_pages(dep["name"]))
    if not pages:
        tried.append("pip is told to use no index" if pip_setting("no-index") else
                     "no Python with pip, and PIP_INDEX_URL is not set")
    for page in pages:
        text = read(page, tried) or read(page + "index.html", tried) \
            if page.startswith("file:") else read(page, tried)
        for link in re.findall(r'href="([^"]+)"', (text or b"").decode("utf-8", "replace")):
            address = urllib.parse.urljoin(page, link.replace("&amp;", "&"))
            if urllib.parse.urlparse(address).path.endswith("/" + dep["file"]):
                yield address.partition("#")[0]


def npm_addresses(dep, tried):
    registry = npm_registry()
    if registry:
        yield "%s/%s/-/%s" % (registry.rstrip("/"), dep["name"], dep["file"])
    else:
        tried.append("npm is not installed, and NPM_CONFIG_REGISTRY is not set")


ADDRESSES = {"pypi": pypi_addresses, "npm": npm_addresses}


def has_hash(data, dep):
    return hashlib.sha256(data).hexdigest() == dep["sha256"]


def archive_of(dep):
    """The archive's bytes; they have the pinned hash."""
    kept = DEPS / "archives" / dep["file"]
    if kept.is_file():
        data = kept.read_bytes()
        if has_hash(data, dep):
            return data
        fail("'%s' is not the pinned archive: delete it" % kept)
    tried = []
    for address in ADDRESSES[dep["registry"]](dep, tried):
        data = read(address, tried)
        if data is None:
            continue
        if has_hash(data, dep):
            return data
        tried.append("%s: the hash is not %s" % (split_login(address)[0], dep["sha256"]))
    fail("cannot fetch %s %s (%s); looked at\n  %s\nput '%s' into deps/archives/ "
         "and run this again" % (dep["name"], dep["version"], dep["registry"],
                                 "\n  ".join(tried) or "no address", dep["file"]))


def write(path, data):
    """By a rename, so that two builds at once do no harm."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name("%s.%d" % (path.name, os.getpid()))
    part.write_bytes(data)
    part.replace(path)


def member_of(archive, dep, name):
    try:
        file = archive.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        fail("'%s' has no file '%s'" % (dep["file"], name))
    return file.read(MAX_BYTES)


def unpack(dep, data):
    """Writes the members that are named, and nothing else of the archive."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for name, place in dep["members"].items():
            write(DEPS / place, member_of(archive, dep, name))
    write(stamp_of(dep), dep["sha256"].encode())


def stamp_of(dep):
    return DEPS / dep["name"] / "pinned"


def is_there(dep):
    stamp = stamp_of(dep)
    if not stamp.is_file() or stamp.read_text() != dep["sha256"]:
        return False
    return all((DEPS / place).is_file() for place in dep["members"].values())


def main(names):
    deps = json.loads((ROOT / "requirements" / "deps.json").read_text(encoding="utf-8"))
    known = [dep["name"] for dep in deps]
    for name in names:
        if name not in known:
            fail("'%s' is not in requirements/deps.json" % name)
    for dep in deps:
        if (names and dep["name"] not in names) or is_there(dep):
            continue
        unpack(dep, archive_of(dep))
        print("fetch: %s %s" % (dep["name"], dep["version"]), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
