"""Downloads against a real server on this machine: progress, failure, and what is left behind."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import os
import threading

import pytest
from torchvision import datasets
from torchvision.datasets import utils

from capsviz.data import DownloadFailed, available, download, fetching, load

SIZES = {
    "train-images": (3, 60_000),
    "train-labels": (1, 60_000),
    "t10k-images": (3, 10_000),
    "t10k-labels": (1, 10_000),
}


def _idx(dimensions: int, count: int) -> bytes:
    """A well-formed idx file of zeros."""
    shape = [count, 28, 28][:dimensions]
    header = bytes([0, 0, 8, dimensions]) + b"".join(size.to_bytes(4, "big") for size in shape)
    return header + bytes(count * (784 if dimensions == 3 else 1))


@pytest.fixture(scope="module")
def packed() -> dict[str, bytes]:
    return {
        f"{stem}-idx{dimensions}-ubyte.gz": gzip.compress(_idx(dimensions, count), 1)
        for stem, (dimensions, count) in SIZES.items()
    }


@pytest.fixture
def server(packed, monkeypatch):
    """A mirror of MNIST's file names; `broken` names a file that is cut off on its way, `gate` holds answers back."""

    class Mirror(http.server.BaseHTTPRequestHandler):
        broken: str
        gate: threading.Event
        asked: list[str]

        def do_HEAD(self):
            self.send_response(200)
            self.end_headers()

        def do_GET(self):
            file = self.path.rsplit("/", 1)[-1]
            type(self).asked.append(file)
            type(self).gate.wait(20)
            self.send_response(200)
            self.send_header("Content-Length", str(len(packed[file])))
            self.end_headers()
            self.wfile.write(packed[file][: len(packed[file]) // 2] if file == type(self).broken else packed[file])

        def log_message(self, *_):
            """Keep the test's output clean."""

    Mirror.broken, Mirror.gate, Mirror.asked = "", threading.Event(), []
    Mirror.gate.set()
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{running.server_address[1]}/"
    monkeypatch.setattr(datasets.MNIST, "mirrors", [address])
    monkeypatch.setattr(
        datasets.MNIST, "resources", [(file, hashlib.md5(data).hexdigest()) for file, data in packed.items()]
    )
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    yield Mirror
    Mirror.gate.set()
    running.shutdown()
    running.server_close()


def test_a_download_tells_its_progress_and_leaves_the_set_alone(server, tmp_path, capsys):
    told = []
    bar = utils.tqdm
    download("mnist", lambda done, total: told.append((done, total)), root=tmp_path)
    assert available("mnist", root=tmp_path)
    assert len(load("mnist", "train", root=tmp_path)) == 60_000
    assert [entry.name for entry in tmp_path.iterdir()] == ["MNIST"]
    assert sorted(entry.name for entry in (tmp_path / "MNIST" / "raw").iterdir()) == sorted(
        f"{stem}-idx{dimensions}-ubyte" for stem, (dimensions, _) in SIZES.items()
    )
    done = [step for step, _ in told]
    assert done == sorted(done)
    assert told[-1] == (11_594_722, 11_594_722)
    assert capsys.readouterr().err == ""
    assert utils.tqdm is bar


def test_a_set_that_is_there_is_not_fetched_again(server, tmp_path):
    download("mnist", root=tmp_path)
    server.asked.clear()
    download("mnist", root=tmp_path)
    assert server.asked == []


def test_a_file_cut_off_on_its_way_fails_and_leaves_nothing(server, tmp_path):
    server.broken = "t10k-images-idx3-ubyte.gz"
    with pytest.raises(DownloadFailed, match="capsviz data download mnist"):
        download("mnist", root=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert not available("mnist", root=tmp_path)
    server.broken = ""
    download("mnist", root=tmp_path)
    assert available("mnist", root=tmp_path)


def test_without_a_network_one_sentence_says_so(tmp_path, monkeypatch):
    for name in filter(lambda name: name.lower().endswith("_proxy"), [*os.environ]):
        monkeypatch.delenv(name)  # which would answer
    monkeypatch.setattr(datasets.MNIST, "mirrors", ["http://127.0.0.1:9/"])
    with pytest.raises(DownloadFailed, match="check the network and run") as raised:
        load("multi-mnist", "test", root=tmp_path, download=True)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_second_caller_joins_the_download_under_way(server, tmp_path):
    download("mnist", root=tmp_path / "alone")
    alone = sorted(server.asked)
    server.gate = threading.Event()
    server.asked.clear()
    root = tmp_path / "together"
    callers = [threading.Thread(target=download, args=("mnist",), kwargs={"root": root}) for _ in range(3)]
    for caller in callers:
        caller.start()
    server.gate.set()
    for caller in callers:
        caller.join(30)
    assert available("mnist", root=root)
    assert sorted(server.asked) == alone


def test_a_download_that_stands_still_is_given_up(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "STALL_SECONDS", 0.3)
    server.gate = threading.Event()
    with pytest.raises(DownloadFailed, match=r"has stopped at 0\.0 of 11\.6 MB"):
        download("mnist", root=tmp_path)
    server.gate.set()
    for thread in threading.enumerate():
        if thread.name == "download-mnist":
            thread.join(30)


def test_a_root_that_cannot_be_written_is_named(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    with pytest.raises(DownloadFailed, match="set CAPSVIZ_DATA"):
        download("mnist", root=blocked)
