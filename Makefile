# Each target sets up what it needs: on a new machine Python 3.11+ and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test test-postgres lint bench conformance fuzz messages clean
.DEFAULT_GOAL := run

run: $(VENV)/.run
	@$(BIN)/python manage.py serve

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

# The same tests on PostgreSQL: a server of their own, which ends with them.
test-postgres: $(VENV)/.dev
	$(BIN)/python -m tests.services.cluster $(BIN)/python -m pytest -n 2 --dist loadfile -m "not browser and not services" $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

# Every measure, as one table; ARGS="start tools" takes some of them. See docs/benchmarks.md.
bench: $(VENV)/.dev
	$(BIN)/python -m bench $(ARGS)

# MCP's own suite and the Inspector, against a served site; needs npm. See docs/conformance.md.
conformance: $(VENV)/.dev
	$(BIN)/python -m tests.conformance $(ARGS)

# Five minutes of any bytes at all on an agent's standard input.
fuzz: $(VENV)/.dev
	HANDOFF_FUZZ_SECONDS=100 $(BIN)/python -m pytest -s tests/mcp_bridge/test_fuzz.py $(ARGS)

messages: $(VENV)/.dev
	@for app in coordination plans notifications mcp_bridge handoff_site; do \
		(cd $$app && ../$(BIN)/django-admin makemessages -l fr --no-wrap --no-location && ../$(BIN)/django-admin compilemessages -l fr); done
	$(BIN)/django-admin makemessages -l fr --no-wrap --no-location -i '.venv/*' -i 'coordination/*' -i 'plans/*' -i 'notifications/*' -i 'mcp_bridge/*' -i 'handoff_site/*' -i 'tests/*' -i 'bench/*'
	$(BIN)/django-admin compilemessages -l fr -i '.venv'

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache

$(VENV)/.run: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit("Handoff needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make run PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@echo "Making the environment in $(VENV), once: about a minute…" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements.txt requirements-dev.txt | $(VENV)/.run
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements-dev.txt
	@touch $@ $(VENV)/.run
