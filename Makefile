# `make app` installs and starts the app; `make test` runs every check. Both make their own virtual environment.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: app test lint tables screenshots demo clean

app: .venv/app
	$(BIN)/streamlit run app/main.py

test: .venv/dev lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

tables: .venv/app
	$(BIN)/python -m docs.tables

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

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
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
