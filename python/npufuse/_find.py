"""Where the npufuse command of this installation is."""
import os
import sys
import sysconfig


def _scripts_folders():
    """Every place where an installer puts scripts, the likeliest first."""
    package = os.path.dirname(os.path.abspath(__file__))
    site = os.path.dirname(package)
    yield sysconfig.get_path("scripts")
    # The environment that this one was made from.
    yield sysconfig.get_path("scripts", vars={"base": sys.base_prefix})
    # <prefix>/lib/pythonX.Y/site-packages/npufuse
    yield os.path.join(site, "..", "..", "..", "bin")
    # pip install --target
    yield os.path.join(site, "bin")
    # pip install --user
    if sys.version_info >= (3, 10):
        scheme = sysconfig.get_preferred_scheme("user")
    else:
        scheme = f"{os.name}_user"
    yield sysconfig.get_path("scripts", scheme=scheme)
    # A source tree: python/npufuse beside build/release
    yield os.path.join(site, "..", "build", "release")


def find_npufuse_bin():
    """The path of the command; FileNotFoundError if there is none."""
    tried = []
    for folder in _scripts_folders():
        path = os.path.normpath(os.path.join(folder, "npufuse"))
        if path in tried:
            continue
        tried.append(path)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(
        "cannot find the npufuse command; looked at " + ", ".join(tried))
