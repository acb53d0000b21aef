"""tools/fetch.py: pinned archives, whatever the registry answers."""
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def make_archive(members):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return data.getvalue()


class World:
    """A tree with tools/fetch.py, and registries that are folders."""

    def __init__(self, folder):
        self.tree = folder / "tree"
        self.registry = folder / "registry"
        self.home = folder / "home"
        for path in (self.tree / "tools", self.tree / "requirements", self.home,
                     self.registry):
            path.mkdir(parents=True)
        shutil.copy(ROOT / "tools" / "fetch.py", self.tree / "tools")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home),
                    "PIP_CONFIG_FILE": os.devnull,
                    "PIP_INDEX_URL": (self.registry / "simple").as_uri(),
                    "NPM_CONFIG_REGISTRY": self.registry.as_uri()}

    def pin(self, registry, data, members):
        dep = {"name": "thing", "version": "1", "registry": registry, "file": "thing-1.tgz",
               "sha256": hashlib.sha256(data).hexdigest(), "members": members}
        (self.tree / "requirements" / "deps.json").write_text(json.dumps([dep]))

    def publish_npm(self, data):
        folder = self.registry / "thing" / "-"
        folder.mkdir(parents=True)
        (folder / "thing-1.tgz").write_bytes(data)

    def publish_pypi(self, data):
        page = self.registry / "simple" / "thing"
        page.mkdir(parents=True)
        (page / "index.html").write_text(
            '<a href="../../files/thing-0.tgz">0</a> '
            '<a href="../../files/thing-1.tgz#sha256=00">1</a>')
        (self.registry / "files").mkdir()
        (self.registry / "files" / "thing-1.tgz").write_bytes(data)

    def keep(self, data):
        (self.tree / "deps" / "archives").mkdir(parents=True)
        (self.tree / "deps" / "archives" / "thing-1.tgz").write_bytes(data)

    def fetch(self, *names):
        done = subprocess.run([sys.executable, "tools/fetch.py", *names], cwd=self.tree,
                              env=self.env, text=True, capture_output=True)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    def files(self):
        deps = self.tree / "deps"
        return {path.relative_to(deps).as_posix(): path.read_bytes()
                for path in deps.rglob("*") if path.is_file()}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


ARCHIVE = make_archive({"package/a.c": b"int a;\n", "package/b.c": b"int b;\n",
                        "../escape": b"no\n"})
MEMBERS = {"package/a.c": "thing/a.c"}


def test_only_named_members_are_unpacked(world):
    world.pin("npm", ARCHIVE, MEMBERS)
    world.publish_npm(ARCHIVE)
    assert world.fetch() == (0, "fetch: thing 1\n")
    files = world.files()
    assert sorted(files) == ["thing/a.c", "thing/pinned"]
    assert files["thing/a.c"] == b"int a;\n"
    assert not (world.tree / "escape").exists()


def test_a_second_run_asks_no_registry(world):
    world.pin("npm", ARCHIVE, MEMBERS)
    world.publish_npm(ARCHIVE)
    assert world.fetch()[0] == 0
    shutil.rmtree(world.registry)
    assert world.fetch() == (0, "")


def test_a_lost_member_is_unpacked_again(world):
    world.pin("npm", ARCHIVE, MEMBERS)
    world.keep(ARCHIVE)
    assert world.fetch()[0] == 0
    (world.tree / "deps" / "thing" / "a.c").unlink()
    assert world.fetch()[0] == 0
    assert world.files()["thing/a.c"] == b"int a;\n"


def test_pypi_by_the_page_of_the_index(world):
    world.pin("pypi", ARCHIVE, MEMBERS)
    world.publish_pypi(ARCHIVE)
    assert world.fetch()[0] == 0
    assert world.files()["thing/a.c"] == b"int a;\n"


def test_pypi_by_the_configuration_of_pip(world):
    world.pin("pypi", ARCHIVE, MEMBERS)
    world.publish_pypi(ARCHIVE)
    configuration = world.home / "pip.conf"
    configuration.write_text(f"[global]\nindex-url = {world.env.pop('PIP_INDEX_URL')}\n")
    world.env["PIP_CONFIG_FILE"] = str(configuration)
    assert world.fetch()[0] == 0


def test_pypi_by_a_folder_and_no_index(world):
    world.pin("pypi", ARCHIVE, MEMBERS)
    world.env.update(PIP_FIND_LINKS=str(world.registry), PIP_NO_INDEX="1")
    code, text = world.fetch()
    assert code == 2 and "pip is told to use no index" in text
    (world.registry / "thing-1.tgz").write_bytes(ARCHIVE)
    assert world.fetch()[0] == 0


@pytest.mark.parametrize("registry", ["npm", "pypi"])
def test_another_hash_is_refused(world, registry):
    world.pin(registry, ARCHIVE, MEMBERS)
    other = make_archive({"package/a.c": b"int evil;\n"})
    world.publish_npm(other)
    world.publish_pypi(other)
    code, text = world.fetch()
    assert code == 2
    assert "the hash is not " + hashlib.sha256(ARCHIVE).hexdigest() in text
    assert world.files() == {}


def test_a_kept_archive_needs_no_registry(world):
    world.pin("npm", ARCHIVE, MEMBERS)
    world.keep(ARCHIVE)
    shutil.rmtree(world.registry)
    assert world.fetch()[0] == 0
    assert world.files()["thing/a.c"] == b"int a;\n"


def test_a_kept_archive_that_is_cut_off(world):
    world.pin("npm", ARCHIVE, MEMBERS)
    world.keep(ARCHIVE[:100])
    code, text = world.fetch()
    assert code == 2 and "is not the pinned archive: delete it" in text


def test_the_message_says_where_and_what_to_do(world):
    world.pin("npm", ARCHIVE, MEMBERS)
    code, text = world.fetch()
    assert code == 2
    assert "cannot fetch thing 1 (npm)" in text
    assert world.registry.as_uri() + "/thing/-/thing-1.tgz: " in text
    assert "put 'thing-1.tgz' into deps/archives/ and run this again" in text


def test_a_password_is_not_printed(world):
    world.pin("npm", ARCHIVE, MEMBERS)
    world.env["NPM_CONFIG_REGISTRY"] = "http://me:s3cret@127.0.0.1:9/npm"
    code, text = world.fetch()
    assert code == 2
    assert "http://127.0.0.1:9/npm/thing/-/thing-1.tgz: " in text
    assert "s3cret" not in text


def test_a_member_that_is_not_there(world):
    world.pin("npm", ARCHIVE, {"package/none.c": "thing/none.c"})
    world.keep(ARCHIVE)
    assert world.fetch() == (2, "fetch: 'thing-1.tgz' has no file 'package/none.c'\n")
    assert "thing/pinned" not in world.files()


def test_an_unknown_name(world):
    world.pin("npm", ARCHIVE, MEMBERS)
    assert world.fetch("nothing") == (
        2, "fetch: 'nothing' is not in requirements/deps.json\n")
