# `make app` installs and starts the app; `make test` runs every check. Both make their own virtual environment.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: app test lint frontend bundles tables screenshots demo clean

app: .venv/app
	$(BIN)/streamlit run app/main.py

test: .venv/dev lint frontend
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

tables: .venv/app
	$(BIN)/python -m docs.tables

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
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@

.venv/dev: .venv/app requirements-dev.txt
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	touch $@

demo: .venv/dev
	$(BIN)/python -m docs.demo

screenshots: .venv/dev
	$(BIN)/python -m docs.screenshots

clean:
	rm -rf .venv frontend/node_modules .pytest_cache .ruff_cache .hypothesis
