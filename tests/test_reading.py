"""What a file says is checked before anything is made of it, and a wrong file is one sentence on one line."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec import ValidationError, convert
from safetensors.torch import save_file

import capsviz
from capsviz import Trace, TraceSet, zoo
from capsviz.data import load
from capsviz.errors import CapsvizError
from capsviz.files import CheckpointError, safetensors_bytes, write
from capsviz.network import METHODS, CapsNetConfig, ConfigError, assemble, configure
from capsviz.reading import Digest, Inside, Name, Perhaps, Side, Text, check, parsed
from capsviz.routing import ALGORITHMS
from capsviz.tensors import LENGTH
from capsviz.tracing.layout import FORMAT, TraceError, step_axes
from capsviz.tracing.pixels import PixelsError
from capsviz.tracing.trace_set_writer import record
from capsviz.training.journal import read_lines
from capsviz.zoo import ZooError
from tests import zoos
from tests.networks import network


def traced(routing: str = "dr", name: str = "tiny", **options) -> Trace:
    return capsviz.trace(network(routing, name), torch.rand(2, 1, 28, 28), **options)


def lie(trace: Trace, path: Path, header: Any = None, **tensors: Any) -> str:
    """What is said of a trace with another header or other tensors, whose checksum is right; None leaves one out."""
    kept = {**trace.tensors(), **{name.replace("__", "."): tensor for name, tensor in tensors.items()}}
    said = json.dumps(header if header is not None else trace.header())
    write(path, safetensors_bytes({n: t for n, t in kept.items() if t is not None}, {"format": FORMAT, "trace": said}))
    with pytest.raises(TraceError) as caught:
        Trace.open(path)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize(("routing", "name"), [*((each, "tiny") for each in ALGORITHMS), ("em", "matrix-tiny")])
def test_what_every_algorithm_records_is_what_its_step_says(routing, name, tmp_path):
    trace = traced(routing, name, votes="all")
    trace.save(tmp_path / "trace")
    opened = Trace.open(tmp_path / "trace")
    assert {name: tuple(t.shape) for name, t in opened.tensors().items()} == {
        name: tuple(t.shape) for name, t in trace.tensors().items()
    }
    assert set(step_axes(ALGORITHMS[routing].step)) == set(trace.layer)


@pytest.mark.parametrize(
    ("routing", "name"), [("dr", "tiny"), ("attention", "tiny"), ("em", "tiny"), ("em", "matrix-tiny")]
)
def test_shares_that_do_not_add_up_are_refused_in_every_layer(routing, name, tmp_path):
    trace = traced(routing, name)
    field = ALGORITHMS[routing].share.field
    for number, layer in enumerate(trace.layers):
        shares = layer[field].clone()
        shares[0, 0, 0, 0] += 0.5
        said = lie(trace, tmp_path / "t", **{f"layer{number}__{field}": shares})
        assert said == f"t: layer{number}.{field} does not add up to 1 over the upper capsules; record it again."


@pytest.mark.parametrize(
    ("routing", "field", "change", "said"),
    [
        ("dr", "images", 1.5, "has numbers above 1"),
        ("dr", "images", -0.5, "has numbers below 0"),
        ("dr", "layer0.activations", 1.5, "has numbers above 1"),
        ("l2", "layer0.activations", -0.5, "has numbers below 0"),
        ("dr", "primary_activations", -0.5, "has numbers below 0"),
        ("em", "activations", 1.5, "has numbers above 1"),
        ("em", "layer0.variances", -1e-9, "has numbers below 0"),
        ("dr", "layer0.couplings", -1e-8, "has numbers below 0"),
        ("attention", "layer0.couplings", -0.5, "has numbers below 0"),
        ("em", "layer0.responsibilities", 1.5, "has numbers above 1"),
    ],
)
def test_a_trace_with_a_number_that_no_routing_gives_is_refused(routing, field, change, said, tmp_path):
    trace = traced(routing)
    numbers = trace.tensors()[field].clone()
    numbers.view(-1)[-1] = change
    assert lie(trace, tmp_path / "t", **{field: numbers}) == f"t: {field} {said}; record it again."


def test_a_boosted_capsule_may_be_longer_than_1(tmp_path):
    trace = traced()
    replace(trace, primary_activations=trace.primary_activations + 1).save(tmp_path / "t")
    assert Trace.open(tmp_path / "t").primary_activations.min() >= 1


def test_a_lying_trace_is_one_sentence_that_names_file_field_and_remedy(tmp_path):
    trace, path = traced(), tmp_path / "t"
    header = trace.header()
    nan = trace.poses.clone()
    nan[1, 3, 2] = torch.nan
    again = "; copy or record it again."
    assert lie(trace, path, poses=nan) == "t: poses holds numbers that are not finite" + again
    assert lie(trace, path, poses=None) == "t: poses is missing" + again
    assert lie(trace, path, poses=trace.poses[:, :, :3]) == (
        "t: poses has the shape 2 × 10 × 3 and not 2 × 10 × 16" + again
    )
    assert lie(trace, path, gains=torch.ones(144).double()) == "t: gains holds F64 and not F32 or F16" + again
    assert lie(trace, path, more=torch.ones(1)) == "t: more is no part of a trace" + again
    assert "names of 10" in lie(trace, path, header | {"classes": ["a"]})
    assert "layers are not the 1 of the config" in lie(trace, path, header | {"layers": ["dr", "dr"]})
    assert "objects must be at least 1" in lie(trace, path, header | {"objects": 0})
    assert "config" in lie(trace, path, header | {"config": 3})
    config = header["config"]
    assert "primary_types must be at most 10000" in lie(
        trace, path, header | {"config": config | {"primary_types": 10**6}}
    )
    assert "color" in lie(trace, path, header | {"config": config | {"color": 1}})
    assert "images" in lie(trace, path, header | {"config": config | {"image": [1, 30, 28]}})


def test_a_lying_trace_of_another_program_is_refused_and_one_that_says_less_opens(tmp_path):
    couplings, poses = torch.full((2, 1, 6, 2), 0.5), torch.zeros(2, 1, 2, 3)
    trace = Trace.from_steps("dr", couplings, poses, grid=(2, 3, 1), field=(5, 2))
    trace.save(tmp_path / "theirs")
    assert Trace.open(tmp_path / "theirs").config == trace.config
    header, path = trace.header(), tmp_path / "t"
    for field, value, said in (
        ("lattice", [1000, 1000, 1], "do not fit into 28"),
        ("lattice", [2, 3, 0], r"lattice[2] must be at least 1"),
        ("seen", [{"kernel": 5, "stride": -1}] * 2, "seen[0].stride must be at least 0"),
        ("primary_dim", -1, "primary_dim must be at least 0"),
        ("classes", 10**6, "classes must be at most 10000"),
        ("routing", "abacus", "No routing is called 'abacus'"),
        ("capsule_layers", [{"types": 2}], "one layer of its lattice's types"),
    ):
        assert said in lie(trace, path, header | {"config": header["config"] | {field: value}}), field
    assert "layer0.couplings is missing" in lie(trace, path, layer0__couplings=None)


def test_a_trace_written_before_there_were_checksums_opens(tmp_path):
    trace = traced()
    header = {name: value for name, value in trace.header().items() if name != "objects"}
    tensors = {name: tensor.contiguous() for name, tensor in trace.tensors().items()}
    save_file(tensors, tmp_path / "t", {"format": FORMAT, "trace": json.dumps(header)})
    opened = Trace.open(tmp_path / "t")
    assert torch.equal(opened.layer["couplings"], trace.layer["couplings"]) and opened.objects == 1


def test_a_flipped_bit_anywhere_is_found_by_the_checksum(tmp_path):
    path = tmp_path / "t"
    traced().save(path)
    whole = path.read_bytes()
    start = LENGTH + int.from_bytes(whole[:LENGTH], "little")
    for place in (start, start + 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(TraceError, match="its bytes are not those of its checksum"):
            Trace.open(path)


def test_nested_and_endless_headers_are_answered_at_once(tmp_path):
    trace, path = traced(), tmp_path / "t"
    for text, said in (("[" * 100_000, "nested too deeply"), ("NaN", "damaged"), ("{", "damaged")):
        write(path, safetensors_bytes(trace.tensors(), {"format": FORMAT, "trace": text}))
        with pytest.raises(TraceError, match=said):
            Trace.open(path)
    path.write_bytes((1 << 40).to_bytes(8, "little") + b"{" * 100)
    with pytest.raises(TraceError, match="no safetensors file"):
        Trace.open(path)


@pytest.fixture
def indexed(tmp_path):
    """A small set, and a function that changes its index and says what is then said."""
    record(network("dr"), load("digits", "test"), tmp_path, name="mine", count=6, shard_size=4)
    said = json.loads((tmp_path / "index.json").read_text())

    def changed(change) -> str:
        content = json.loads(json.dumps(said))
        change(content)
        (tmp_path / "index.json").write_text(json.dumps(content))
        with pytest.raises(TraceError) as caught:
            TraceSet.open(tmp_path)[:]
        assert len(str(caught.value).splitlines()) == 1
        return str(caught.value)

    return changed


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("where", "value", "expected"),
    [
        ("first", -5, r"shards[1].first must be at least 0"),
        ("first", 5, r"shards[1].first is 5 and not 4"),
        ("count", 0, r"shards[1].count must be at least 1"),
        ("count", 3, "the shards hold 7 images and not 6"),
        ("file", "../shard", r"shards[1].file is written in a way that is not allowed"),
        ("file", "/etc/passwd", r"shards[1].file is written in a way that is not allowed"),
        ("file", None, r"shards[1].file must be str and is null"),
        ("bytes", 3, "cut short"),
    ],
)
def test_a_lying_index_is_one_sentence_and_never_a_loop(indexed, where, value, expected):
    assert expected in indexed(lambda content: content["shards"][1].update({where: value}))


def test_an_index_without_shards_or_of_other_settings_is_refused(indexed):
    assert "shards" in indexed(lambda content: content.update(shards=[]))
    assert "recorded.model" in indexed(lambda content: content["recorded"].update(model=[]))
    assert "recorded is missing" in indexed(lambda content: content.pop("recorded"))


@pytest.fixture
def manifest(tmp_path, monkeypatch):
    """A function that changes the row of digits-dr in a manifest of its own, and says what is then said."""
    row = zoos.rows(zoos.copied(tmp_path, "digits-dr"))["digits-dr"]
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))

    def changed(config: dict | None = None, **fields) -> str:
        zoos.state(tmp_path, {**row, **fields, "config": row["config"] | (config or {})})
        with pytest.raises(CapsvizError) as caught:
            zoo.load("digits-dr")
        assert len(str(caught.value).splitlines()) == 1
        return str(caught.value)

    return changed


def test_a_lying_manifest_is_refused_before_a_network_is_built(manifest, monkeypatch):
    monkeypatch.setattr("capsviz.zoo.weights.assemble", lambda _: pytest.fail("built"))
    assert "primary_types must be at most 10000" in manifest({"primary_types": 10**5})
    assert "and its config wants" in manifest({"primary_types": 10**3})
    assert "casts" in manifest({"primary_types": 10**4, "class_dim": 64})
    assert "unknown" not in manifest({"color": 3}) and "color" in manifest({"color": 3})
    for field, value in (("file", "../x"), ("curves", "/x"), ("sha256", "z"), ("test_error", -1), ("test_count", 0)):
        assert f"models[0].{field}" in manifest(**{field: value})
    assert "names 9 classes" in manifest(classes=list("123456789"))
    assert "its config" in manifest(routing="em")


@pytest.mark.parametrize("routing", METHODS)
@pytest.mark.parametrize("data", ["digits", "cifar10"])
def test_what_a_config_says_of_its_weights_is_a_close_lower_bound(routing, data):
    for name in ("tiny", *(("residual",) if METHODS[routing].has_capsules else ())):
        config = configure(name, data, routing)
        numbers = sum(weight.numel() for weight in assemble(config).parameters())
        assert 0.8 * numbers < config.weights <= numbers


@pytest.mark.usefixtures("unchecked_types")
def test_bounds_hold_in_python_as_in_files():
    for wrong in ({"kernel": 0}, {"classes": "ten"}, {"image": (1, 28)}, {"iterations": 2.5}, {"decoder": (0,)}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            CapsNetConfig(**wrong)
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            CapsNetConfig.from_dict(json.loads(json.dumps(CapsNetConfig().to_dict() | wrong)))


def test_metrics_lose_a_last_line_that_was_cut_off_and_no_other(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"kind": "train", "step": 1}\n{"kind": "tr')
    assert read_lines(path) == [{"kind": "train", "step": 1}]
    path.write_text('{"kind": "train", "step": 1}\n{"kind": "tr\n{"kind": "train", "step": 2}\n')
    with pytest.raises(CheckpointError, match="line 2 is damaged"):
        read_lines(path)
    path.write_text('{"kind": "train", "step": -1}\n')
    with pytest.raises(CheckpointError, match="line 1: step must be at least 0"):
        read_lines(path)


@pytest.mark.usefixtures("unchecked_types")
def test_images_are_converted_or_refused_in_one_sentence():
    model, images = network("dr"), torch.randint(0, 256, (2, 1, 28, 28), dtype=torch.uint8)
    whole = capsviz.trace(model, images.float() / 255)
    given: Any
    for given in (images, (images / 255).double(), images.numpy(), (images.float() / 255).numpy()):
        torch.testing.assert_close(capsviz.trace(model, given).poses, whole.poses, rtol=1e-4, atol=1e-6)
    nan = images.float() / 255
    nan[0, 0, 3, 3] = torch.nan
    for given, said in (
        (images.float(), "divide bytes by 255"),
        (images.float() / 127.5 - 1, "reach from -1"),
        (nan, "not finite"),
        (nan.nan_to_num(torch.inf), "not finite"),
        (images.long(), "int64 may mean anything"),
        (images[:, :, :27], "takes images of batch × 1 × 28 × 28 and these are 2 × 1 × 27 × 28"),
        (images[0], "these are 1 × 28 × 28"),
        (images.expand(2, 3, 28, 28), "2 × 3 × 28 × 28"),
        (images[:0], "no image in the batch"),
        (images.float().to("meta"), r"The images are no real numbers .*\(torch.float32 on meta\)"),
        ("digit", "The images are no real numbers in rows of one length"),
        ([1, 2], "these are 2; resize or stack"),
    ):
        with pytest.raises(PixelsError, match=said) as caught:
            capsviz.trace(model, given)
        assert len(str(caught.value).splitlines()) == 1


def test_an_unwritten_zoo_error_is_the_one_of_the_manifest(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPSVIZ_ZOO", str(tmp_path))
    for text, said in (("[" * 10**5, "nested too deeply"), ("[]", "no list of models"), ('{"models": [3]}', "no list")):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(ZooError, match=said):
            zoo.models()


@pytest.mark.parametrize("kind", [Name, Text, Inside])
def test_a_name_that_is_no_text_is_refused_before_it_is_written(kind):
    """As of a folder whose name is no UTF-8: a file that held it could not be read again."""
    assert convert("café 木", kind) == "café 木"
    with pytest.raises(ValidationError):
        convert("caf\udce9", kind)


@pytest.mark.parametrize("kind", [Name, Inside, Perhaps])
def test_a_name_that_ends_in_another_line_is_not_one_line(kind):
    with pytest.raises(ValidationError):
        convert("name\n", kind)
    with pytest.raises(ValidationError):
        convert("0" * 64 + "\n", Digest)


@pytest.mark.parametrize("kind", [Inside, Perhaps])
def test_what_lies_inside_a_folder_names_no_drive(kind):
    assert convert("model/a", kind) == "model/a"
    with pytest.raises(ValidationError):
        convert("C:/model/a", kind)


@pytest.mark.parametrize("text", [rb'{"classes": ["\ud800"]}', rb'["\ud800 and more"]', b'["caf\xe9"]', r'["\udce9"]'])
def test_a_name_that_is_no_text_is_called_that_where_it_is_read(text):
    with pytest.raises(ZooError, match=r"^x is no text throughout: a name, say, .*; write it anew"):
        parsed(text, "x", "write it anew", ZooError)


@pytest.mark.parametrize("text", [b"[", "[" * 10**5, rb'["\ud83d\ude00"'])
def test_what_is_damaged_otherwise_is_called_damaged_or_nested(text):
    with pytest.raises(ZooError, match=r"^x is (damaged|nested)"):
        parsed(text, "x", "write it anew", ZooError)


@dataclass(frozen=True)
class Pair:
    sides: tuple[Side, Side]


def test_a_list_in_a_model_is_the_tuple_of_its_numbers():
    given: Any = [3, 4]
    pair = Pair(given)
    check(pair, CapsvizError)
    assert pair == Pair((3, 4)) and hash(pair) == hash(Pair((3, 4)))
    with pytest.raises(CapsvizError, match=r"^sides\[1\] must be at least 1; got \[3, 0\]\.$"):
        check(replace(pair, sides=[3, 0]), CapsvizError)  # type: ignore[arg-type]
