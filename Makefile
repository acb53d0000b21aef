# make help lists the targets. Each one sets up what it needs; see
# tools/setup.sh. CMakePresets.json has the flags of each build.
SHELL := /bin/bash
PRESETS := release dev asan cov
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: help demo test check fuzz coverage bench wheel install clean aarch64 \
        setup-build setup-test setup-bench build $(PRESETS)

help:
	@echo 'make demo     build npufuse, then the whole job on examples/tiny_decoder'
	@echo 'make test     set up, build and run every test'
	@echo 'make release  build/release/npufuse (also: dev, asan, cov)'
	@echo 'make check    the static checks alone'
	@echo 'make fuzz     a minute of fuzzing for each target (SECONDS=60)'
	@echo 'make coverage what the tests in C and the cases reach'
	@echo 'make aarch64  the cases under qemu (gcc-aarch64-linux-gnu, qemu-user)'
	@echo 'make bench    speed against ast-grep and CPython (about a minute)'
	@echo 'make wheel    dist/*.whl and dist/*.tar.gz'
	@echo 'make install  into PREFIX (/usr/local)'
	@echo 'make clean    remove build/ and dist/'

setup-build setup-test setup-bench: setup-%:
	@tools/setup.sh $*

demo:
	@tools/demo.sh

test: setup-test
	@.venv/bin/python tests/all.py $(PARTS)

check:
	@for check in layers headers size banned; do \
	    echo "== $$check"; python3 tests/check_$$check.py || bad=1; \
	done; exit $${bad:-0}

build: release
$(PRESETS): setup-build
	cmake --preset $@
	cmake --build --preset $@

# The cases once more, on the processor that most users have.
aarch64: setup-test
	cmake --preset aarch64
	cmake --build --preset aarch64
	@.venv/bin/python tests/run.py --bin build/aarch64/npufuse \
	    --wrap qemu-aarch64 --timeout 300

fuzz: setup-build
	@tests/fuzz/run.sh $(SECONDS)

coverage: setup-test
	@.venv/bin/python tests/coverage.py

bench: setup-bench
	@bench/scan.sh

wheel: setup-test
	.venv/bin/python -m build -o dist .

PREFIX ?= /usr/local
install: release
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build dist
