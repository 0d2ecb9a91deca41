"""The library and its command line run where Streamlit and Plotly are absent: a bare GPU machine, a cluster's node."""

from __future__ import annotations

import pytest

from tests.programs import printed

pytestmark = pytest.mark.long

EXTRAS = ("streamlit", "plotly", "lightning_fabric", "tensorboard", "beartype")
"""What `pip install .` does not bring."""
BLOCK = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def run(code: str, absent: tuple[str, ...] = (*EXTRAS, "torchmetrics")) -> str:
    """What a Python without the absent packages prints."""
    return printed(BLOCK.format(absent) + code)


def test_a_digit_is_routed_and_recorded(tmp_path):
    code = f"""
import torch, capsviz
images, _ = capsviz.data.load("digits", "test").batch(torch.arange(2))
trace = capsviz.trace(capsviz.load("digits-em"), capsviz.data.to_float(images))
trace.save({str(tmp_path / "trace.safetensors")!r})
print(capsviz.Trace.open({str(tmp_path / "trace.safetensors")!r}).layer.iterations)
"""
    assert run(code).strip() == "3"


def test_models_compare_after_a_bare_install():
    code = """
import torch, capsviz
from capsviz.analysis import comparison
images, _ = capsviz.data.load("digits", "test").batch(torch.arange(2))
print(list(comparison.compare(["digits-em", "digits-l2"], capsviz.data.to_float(images)).answers))
"""
    assert run(code, EXTRAS).strip() == "['digits-em', 'digits-l2']"


def test_a_training_says_what_to_install():
    code = """
from capsviz.training.processes import launch
try:
    launch("cpu", "auto")
except capsviz.CapsvizError as error:
    print(error)
"""
    said = run("import capsviz" + code)
    assert said == 'Training needs lightning_fabric; run `pip install "capsviz[training]"`.\n'


def test_the_command_line_answers():
    code = """
from capsviz.commands.main import main
for words in ("zoo verify", "evaluate --model digits-l2", "data list"):
    sys.argv = ["capsviz", *words.split()]
    try:
        main()
    except SystemExit as left:
        assert not left.code, words
"""
    said = run(code)
    assert "digits-dr: as the manifest says" in said
    assert "it agrees" in said
    assert "1,437 train" in said
