# Everything a developer or an operator runs from a clone. `make help` lists it.

.DEFAULT_GOAL := help
.PHONY: help demo build test unit deps lint lint-deep format format-check bench fuzz kill-loop storm
.PHONY: mutations clean
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Kill -9 and restart rounds of `make kill-loop`; seconds for each fuzzer of `make fuzz`.
N ?= 200
FUZZ_S ?= 60
# Runs of `make storm`, and the first of them.
SEEDS ?= 2000
FIRST ?= 1
# The folder that `make unit` builds in; another one lets two people share a checkout.
BUILD ?= build/dev
LAYER ?=

help:  ## list these goals
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: build  ## build, then show the scheduler at work on this machine
	@tools/demo

deps:  ## install the Debian packages that building needs
	@tools/deps build

build/release/build.ninja:
	@tools/deps build
	@cmake --preset release

build: deps build/release/build.ninja  ## build the optimised binary, build/berth
	@cmake --build build/release -j $(JOBS) --target berth
	@ln -f build/release/bin/berth build/berth 2>/dev/null || cp -f build/release/bin/berth build/berth
	@echo "build/berth is ready"

test: deps build/release/build.ninja  ## build everything and run every test
	@cmake --build build/release -j $(JOBS)
	@if [ -e build/release/bin/berth ]; then \
	  ln -f build/release/bin/berth build/berth 2>/dev/null || \
	  cp -f build/release/bin/berth build/berth; fi
	@ctest --test-dir build/release --output-on-failure --no-label-summary -j 2

unit: deps  ## build and run the unit tests of one folder: make unit LAYER=model
	@test -n "$(LAYER)" || { echo "name a folder: make unit LAYER=model" >&2; exit 2; }
	@test -e $(BUILD)/build.ninja || cmake --preset dev -B $(BUILD) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target $(subst /,_,$(LAYER))_test
	@BERTH_DATA="$${BERTH_DATA:-../shared/data}" BERTH_SOURCE=. \
	  $(BUILD)/bin/$(subst /,_,$(LAYER))_test --gtest_brief=1

lint: deps  ## check layers, names, sizes and banned calls
	@tools/tidy

lint-deep: deps  ## run clang-tidy over src (slow)
	@tools/deps lint
	@cmake --preset clang >/dev/null
	@tools/lint-deep build/clang $(JOBS)

format:  ## reformat the C++ sources
	@tools/deps lint
	@tools/format

format-check:  ## say which C++ sources are not formatted
	@tools/deps lint
	@tools/format --check

bench: deps build/release/build.ninja  ## build and run the benchmarks
	@cmake --build build/release -j $(JOBS) --target berth_bench
	@build/release/bin/berth_bench

fuzz: deps  ## run each fuzzer for FUZZ_S seconds
	@tools/deps lint
	@tools/fuzz $(FUZZ_S) $(JOBS)

kill-loop: build  ## kill the daemon N times and check that nothing is lost or doubled
	@tools/kill-loop $(N)

storm: build  ## live through SEEDS random runs under faults, from seed FIRST
	@build/berth storm --seeds $(SEEDS) --first-seed $(FIRST) --known tests/storm/known --coverage

mutations: deps  ## plant each deliberate bug and show how soon storm finds it
	@tools/mutations

clean:  ## remove everything that was built
	@rm -rf build
