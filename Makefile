# Everything that a person or CI does here: `make help` lists it.

PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml setup.py .constraints.txt $(shell find core -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' -o -name '*.h')
KERNELS := $(shell find core -name '*.pyx')
TESTS ?= --ignore=tests/programs --ignore=tests/faults --ignore=tests/security/test_fairness.py tests
PARALLEL ?= 3
# How often a failed test is run again: on a shared machine a pause of its own is no fault of ours.
RERUNS ?= 0

# Installs by uv, which takes seconds, where it is on the path or pip can fetch it; by pip where uv cannot be had or
# fails. uv reads none of pip's settings, so the package index that stands there is handed to it.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
define install
	@uv=$$(command -v uv || command -v $(BIN)/uv || { $(PIP) install uv 2>/dev/null && echo $(BIN)/uv; }); \
	index=$${UV_DEFAULT_INDEX:-$${PIP_INDEX_URL:-$$($(PIP) config get global.index-url 2>/dev/null)}}; \
	if [ -n "$$index" ]; then export UV_DEFAULT_INDEX="$$index"; fi; \
	{ [ -n "$$uv" ] && $$uv pip install --quiet --python $(BIN)/python --constraint .constraints.txt $(1); } \
		|| $(PIP) install --constraint .constraints.txt $(1)
endef

# The lines of one extra of pyproject.toml, for what is installed without building the project again.
extra = $(BIN)/python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; print(*project['optional-dependencies']['$(1)'], sep='\n')"

.PHONY: help setup demo serve test docs lint format bench bench-record bench-quick clients vendor screenshots clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

setup: .venv/.ready ## the virtual environment: what the service needs, compiled kernels, the command, the guide
	@$(MAKE) --no-print-directory service/guide.zip || echo "The guide could not be built; the service runs without it"

# In compat mode type checkers find the packages too, which look at paths and run no import hooks.
.venv/.ready: $(SOURCES)
	@echo "Setting up .venv: dependencies, then the kernels; a minute or two the first time"
	@$(PYTHON) -m venv .venv
	$(call install,--config-settings editable_mode=compat --editable '.[service]')
	@$(BIN)/python -m core.warm
	@touch $@

.venv/.dev: .venv/.docs
	@$(call extra,dev) >.venv/dev.txt
	$(call install,--requirement .venv/dev.txt)
	@touch $@

.venv/.docs: pyproject.toml .constraints.txt | .venv/.ready
	@$(BIN)/python -c 'import sys; sys.exit("The guide and the tests want Python 3.11.5 or newer: set PYTHON" if sys.version_info < (3, 11, 5) else 0)'
	@$(call extra,docs) >.venv/docs.txt
	$(call install,--requirement .venv/docs.txt)
	@touch $@

# A wheel builds the guide by itself (setup.py).
docs: .venv/.docs ## build the guide that the service shows at /docs/guide/; a warning or a dead link is an error
	@$(BIN)/python -m docs

service/guide.zip: $(shell find docs -type f -not -name '*.pyc') | .venv/.docs
	@echo "Building the guide, ten seconds or so"
	@$(BIN)/python -m docs

demo: setup ## start a service of its own, load deals (or FILE=your.xlsx), run the compliance suites, stop
	@$(BIN)/cushion demo --once $(if $(FILE),"$(FILE)")

serve: setup ## run the service on 127.0.0.1:8000 until Ctrl-C
	@exec $(BIN)/cushion serve

# Bytecode is written, whatever the environment says: else each of the thousand processes compiles all that it imports,
# and each of pytest's all test files.
test: .venv/.dev ## the whole test suite, against a real PostgreSQL and Redis
	@$(BIN)/python -m compileall -q -j 0 core service
	@$(BIN)/python -m tests.rewritten
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(PARALLEL) --dist loadfile --no-loadscope-reorder --reruns $(RERUNS) $(TESTS)

lint: .venv/.dev ## ruff (lint and format), mypy, and the stubs beside the compiled modules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.words
	$(BIN)/python -m mypy.stubtest --ignore-missing-stub --ignore-disjoint-bases --allowlist .stubtest-allowlist $(subst /,.,$(basename $(KERNELS)))

format: .venv/.dev ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.venv/.bench: .venv/.dev
	@$(call extra,bench) >.venv/peers.txt
	$(call install,--requirement .venv/peers.txt)
	@touch $@

# One table at the end is enough for most; the rows are in what `BENCH="--benchmark-json=FILE"` writes.
BENCH ?=
ASK = $(BIN)/python -m pytest bench -q --benchmark-columns=median,iqr,rounds $(BENCH)

bench: .venv/.bench ## measure against the peers, with the gate: make bench NAME=compliance; BENCH=--record for new floors
	$(ASK) $(if $(NAME),-k "($(NAME)) or floors")

bench-record: .venv/.bench ## the same on a quiet machine, then the run's floors, README, guide and pictures
	@mkdir -p build
	$(ASK) --record --benchmark-json=build/speed.json
	$(BIN)/python -m bench.report build/speed.json --publish

bench-quick: .venv/.bench ## the same for the questions that are soon answered, under three minutes
	$(ASK) --quick

clients: .venv/.dev ## typed clients of the API for Python (a wheel) and TypeScript (an npm tarball), into dist/
	@$(BIN)/python .ci/clients/build.py dist

vendor: ## fetch the console's libraries anew, as .ci/vendor.py pins them; wants npm
	@$(PYTHON) .ci/vendor.py

screenshots: .venv/.dev ## pictures of every screen of the console on the demo's deals, and those of the guide; wants chromium
	@$(BIN)/python -m tests.screenshots

clean: ## remove what was built
	rm -rf .venv build dist *.egg-info service/guide.zip
	find core -name '*.so' -delete -o -name '*.c' -delete
