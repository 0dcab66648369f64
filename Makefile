# Everything that a person or CI does here: `make help` lists it.

PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml setup.py .constraints.txt $(shell find core -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' -o -name '*.h')
KERNELS := $(shell find core -name '*.pyx')
TESTS ?= --ignore=tests/programs tests
PARALLEL ?= 2

.PHONY: help setup demo serve test lint format bench clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: .venv/.ready ## the virtual environment: dependencies, compiled kernels, the command

.venv/.ready: $(SOURCES)
	@echo "Setting up .venv: dependencies, then the kernels; some minutes the first time"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint .constraints.txt --editable '.[dev]'
	@$(BIN)/python -m core.warm
	@touch $@

demo: setup ## start a service of its own, upload a portfolio (FILE=your.xlsx), run the compliance suites
	@$(BIN)/cushion demo $(if $(FILE),"$(FILE)")

serve: setup ## run the service on 127.0.0.1:8000 until Ctrl-C
	@exec $(BIN)/cushion serve

test: setup ## the whole test suite, against a real PostgreSQL and Redis
	$(BIN)/python -m pytest -n $(PARALLEL) --dist loadfile $(TESTS)

lint: setup ## ruff (lint and format), mypy, and the stubs beside the compiled modules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest --ignore-missing-stub --ignore-disjoint-bases --allowlist .stubtest-allowlist $(subst /,.,$(basename $(KERNELS)))

format: setup ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## measure against the peers: make bench NAME="compliance --check"
	@$(BIN)/python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; print(*project['optional-dependencies']['bench'], sep='\n')" >.venv/peers.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint .constraints.txt --requirement .venv/peers.txt
	$(BIN)/python -m bench $(NAME)

clean: ## remove what was built
	rm -rf .venv build *.egg-info
	find core -name '*.so' -delete -o -name '*.c' -delete
