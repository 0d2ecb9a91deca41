# `make app` installs and starts the app, `make check` is for every commit, `make test` runs every check; all make their
# own virtual environment. `make lock` and the other targets below write files that are committed.
PYTHON ?= python3
# Python keeps what it compiles, whatever the environment says: pytest rewrites 330 files, and tests start many processes.
export PYTHONDONTWRITEBYTECODE =
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: app check test oldest lint frontend bundles tables fuzz coverage mutation docs docs-serve architecture lock image screenshots demo clean

app: .venv/app
	$(BIN)/capsviz app

check: .venv/dev lint frontend
	$(PYTEST) -m unit

test: .venv/dev lint frontend
	$(PYTEST)

# The tests of `make check` with the oldest versions that pyproject.toml allows, in an environment of its own.
oldest: .venv/dev
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-oldest
	$(BIN)/uv pip compile pyproject.toml --extra app --extra notebook --resolution lowest-direct --upgrade --quiet \
	  --python .venv-oldest -o .venv-oldest/versions.txt
	$(BIN)/uv pip install --quiet --python .venv-oldest -c .venv-oldest/versions.txt --editable ".[dev]"
	$(subst $(BIN),.venv-oldest/bin,$(PYTEST)) -m unit

tables: .venv/app
	$(BIN)/python -m docs.tables

# 13,200 damaged and lying inputs to everything that is read; the result is what docs/reliability.md shows.
fuzz: .venv/dev
	$(BIN)/python -m tests.fuzz

# Lines and branches of capsviz/ and app/ that the tests without a browser run, and those that none of them does.
coverage: .venv/dev
	$(PYTEST) -m "not browser" --cov --cov-report=term-missing:skip-covered
	$(BIN)/python -m tests.covered

# Small changes to the routing algorithms, one at a time, and which of them the tests notice: an hour on a quiet core.
# `python -m tests.mutation --again` tries those that were missed or have changed, in minutes; --tests names added ones.
mutation: .venv/dev
	$(BIN)/python -m tests.mutation

architecture: .venv/dev
	$(BIN)/python -m docs.architecture

# The pages of docs/ with the reference from the docstrings, in site/; a link or a name that leads nowhere is an error.
docs: .venv/docs
	$(BIN)/mkdocs build --strict --quiet

docs-serve: .venv/docs
	$(BIN)/mkdocs serve

lock: .venv/dev
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra docs --generate-hashes --python-version 3.11 \
	  --python-platform x86_64-manylinux_2_28 --custom-compile-command "make lock" --quiet --upgrade -o requirements.lock

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The browser's code: its types, style and unit tests, and whether the committed bundles are those of the sources.
ifneq ($(shell command -v npm),)
frontend: frontend/node_modules
	cd frontend && npm run --silent lint && npm run --silent test && npm run --silent check
else
frontend:
	@echo "Without npm the browser's code is not checked; the committed bundles are used as they are."
endif

bundles: frontend/node_modules
	cd frontend && npm run --silent build

frontend/node_modules: frontend/package-lock.json
	cd frontend && npm ci --silent
	touch $@

.venv/app: requirements.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and \
	  'capsviz needs Python 3.11 or newer; name one, as in: make app PYTHON=python3.12')"
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r requirements.txt
	touch $@

.venv/dev: .venv/app
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

.venv/docs: .venv/app
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

# The server for a lecture hall: `docker run --publish 8501:8501 capsviz`.
image:
	docker build --tag capsviz .

demo: .venv/dev
	$(BIN)/python -m docs.demo

screenshots: .venv/dev
	$(BIN)/python -m docs.screenshots

clean:
	rm -rf .venv .venv-oldest frontend/node_modules site .coverage* .pytest_cache .ruff_cache .hypothesis
