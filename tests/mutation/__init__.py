"""Small changes to the routing algorithms, one at a time, and whether the tests notice: `make mutation`.

`mutants.py` says which changes there are, `replacing.py` puts one into the running program, `running.py` runs the tests
that reach it in a process of its own, and `report.py` says what became of them. Why a change is not noticed, since
it changes nothing or is left as it is, stands in `reasons.toml`.
"""
