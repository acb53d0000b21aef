#!/bin/bash
# Makes a machine ready: tools/setup.sh build|demo|test|bench
#
#   build  a C compiler, CMake and Ninja. What the machine has is used; what
#          is missing comes from Debian (as root) or, for CMake and Ninja,
#          from PyPI into .venv
#   demo   and .venv with torch: a torch that is there is used
#   test   and what the tests need: requirements/test.txt,
#          requirements/corpus.txt in .venv, and cmocka
#   bench  and requirements/bench.txt
#
# Running it again costs nothing. PYTHON names the Python to use.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=${PATH//"$PWD/.venv/bin:"/} # look at the machine, not at our own

VENV=.venv
TORCH=${NPUFUSE_TORCH:-torch==2.13.0} # installed where none >= 2.1 is there

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }
run() { echo "\$ $*" >&2; "$@" >&2; }

# apt_install WHAT PACKAGE...: fails with a sentence where apt cannot be used.
apt_install() {
    local what=$1 install=(apt-get install -q -y --no-install-recommends)
    shift
    if ! have apt-get; then
        die "$what is missing: install it (Debian calls it $*)"
    fi
    [ "$(id -u)" = 0 ] || die "$what is missing: sudo apt-get install $*"
    export DEBIAN_FRONTEND=noninteractive
    run "${install[@]}" "$@" ||
        { run apt-get update -q && run "${install[@]}" "$@"; } ||
        die "$what is missing, and apt-get could not install $*"
}

# is_version FOUND WANTED: FOUND is not older.
is_version() { [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n1)" = "$2" ]; }

# is_python COMMAND MAJOR.MINOR
is_python() {
    "$1" -c "import sys; sys.exit(sys.version_info[:2] < (${2/./,}))" \
        2>/dev/null
}

find_python() { # find_python MAJOR.MINOR
    local name
    for name in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        is_python "$name" "$1" && { echo "$name"; return; }
    done
    return 1
}

# Whether this Python has a torch that the tests can use.
has_torch() {
    "$1" -c 'import sys, torch
version = tuple(map(int, torch.__version__.split(".")[:2]))
sys.exit(version < (2, 1))' 2>/dev/null
}

make_venv() { # make_venv MAJOR.MINOR
    local python options=()
    is_python "$VENV/bin/python" "$1" && return
    python=$(find_python "$1") || {
        apt_install "Python $1" python3 python3-venv
        python=$(find_python "$1") ||
            die "Python $1 or newer is needed (PYTHON=... names one)"
    }
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        apt_install "Python's venv module" python3-venv
    if has_torch "$python"; then
        say "using the torch of $python"
        options=(--system-site-packages)
    fi
    rm -rf "$VENV"
    run "$python" -m venv "${options[@]}" "$VENV"
}

# install_pins NAME [PIP OPTION...]: requirements/NAME.txt, once.
install_pins() {
    local name=$1 stamp sum
    shift
    stamp=$VENV/pins-$name
    sum=$(cksum < "requirements/$name.txt")
    [ "$(cat "$stamp" 2>/dev/null)" = "$sum" ] && return
    run "$VENV/bin/pip" install -q --disable-pip-version-check \
        --require-hashes "$@" -r "requirements/$name.txt" ||
        die "pip could not install requirements/$name.txt"
    echo "$sum" > "$stamp"
}

# Sources that are built in; see requirements/deps.json.
setup_deps() {
    [ -f deps/uplot/pinned ] && [ -f deps/yyjson/pinned ] && [ -f deps/deflate/pinned ] && return
    have npm || [ -n "${NPM_CONFIG_REGISTRY:-}" ] ||
        [ -f deps/archives/uplot-1.6.32.tgz ] || apt_install "npm" npm
    make_venv 3.8
    run "$VENV/bin/python" tools/fetch.py || exit 2
}

setup_build() {
    setup_compiler
    setup_deps
}

setup_compiler() {
    have "${CC:-cc}" || apt_install "a C compiler" gcc libc6-dev
    if have cmake && have ninja &&
        is_version "$(cmake --version | sed -n '1s/.* //p')" 3.21; then
        return
    fi
    make_venv 3.8
    install_pins build
}

setup_cmocka() {
    printf '#include <%s.h>\n' stdarg stddef stdint setjmp cmocka |
        "${CC:-cc}" -fsyntax-only -x c - 2>/dev/null ||
        apt_install "cmocka" libcmocka-dev
}

setup_torch() {
    has_torch "$VENV/bin/python" ||
        run "$VENV/bin/pip" install -q --disable-pip-version-check "$TORCH" ||
        die "pip could not install $TORCH (NPUFUSE_TORCH names another)"
}

setup_demo() {
    setup_build
    make_venv 3.8
    setup_torch
}

setup_test() {
    setup_build
    setup_cmocka
    make_venv 3.11
    install_pins test
    install_pins corpus --no-deps
    setup_torch
}

case ${1:-} in
build) setup_build ;;
demo) setup_demo ;;
test) setup_test ;;
bench) setup_test; install_pins bench ;;
*) die "usage: tools/setup.sh build|demo|test|bench" ;;
esac
