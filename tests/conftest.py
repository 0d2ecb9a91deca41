"""What every test shares: shapes checked at run time, few threads, reproducible properties, MNIST if there is any."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import jaxtyping

# Before the first import of torch, and for the programs that tests start: threads that wait for one another spin, and
# where more are at work than there are cores they wait for long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Before the first import of capsviz: from here on every jaxtyping signature of the library is checked at each call.
jaxtyping.install_import_hook("capsviz", "beartype.beartype")

import hypothesis  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402

pytest.register_assert_rewrite("tests.browser.visitor")  # what it finds wrong is printed

# One thread for each worker that runs tests beside others.
DEFAULT_THREADS = 1 if "PYTEST_XDIST_WORKER" in os.environ else min(2, os.cpu_count() or 1)
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", DEFAULT_THREADS)))

# A first call compiles nothing but may load a kernel library, so a deadline per example would only flicker.
hypothesis.settings.register_profile(
    "capsviz",
    deadline=None,
    max_examples=25,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("capsviz")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by what it needs: `browser` Chromium, `app` the app's script, `unit` neither.

    Those that are marked `long` in their files train a network, or start a program, and are no `unit` tests.
    """
    for item in items:
        folder = item.path.relative_to(item.config.rootpath).parts[1]
        browser = folder == "browser" or "chromium" in getattr(item, "fixturenames", ())
        if browser or folder == "app":
            item.add_marker("browser" if browser else "app")
        elif not item.get_closest_marker("long"):
            item.add_marker("unit")


def pytest_collection_finish() -> None:
    """Leave what was imported out of every collection of garbage: each run of the app's script ends with one."""
    gc.freeze()


@pytest.fixture(autouse=True)
def same_random_numbers_in_every_test():
    """Seed torch, so that a test fails or passes whatever ran before it."""
    torch.manual_seed(0)


@pytest.fixture
def unchecked_types():
    """Switch the run-time checks of types off, as they are for a user, whose mistakes meet the library's own errors."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


@pytest.fixture(scope="session")
def mnist_root() -> Path:
    """The folder that holds MNIST/raw: `CAPSVIZ_DATA`, or shared/data beside the repository; skips where there is none.

    The environment is left as it is: a test that wants this folder passes it on as `root`, or sets the variable.
    """
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    root = Path(os.environ.get("CAPSVIZ_DATA") or beside)
    if not (root / "MNIST" / "raw").is_dir():
        pytest.skip("MNIST is not on this machine: set CAPSVIZ_DATA to the folder that holds MNIST/raw")
    return root


@pytest.fixture(scope="session")
def mnist(mnist_root: Path):
    """The MNIST test images as an `ImageSet`; skips where MNIST is absent."""
    from capsviz.data import load

    return load("mnist", "test", root=mnist_root)


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the app answers, on a machine that holds no data set but the embedded digits."""
    from tests.serving import served

    folder = tmp_path_factory.mktemp("server")
    with served("app/main.py", folder, CAPSVIZ_DATA=str(folder)) as address:
        yield address


@pytest.fixture(scope="session")
def chromium():
    """The one browser whose windows the tests open; skips where there is none, unless one is named."""
    from tests.serving import CHROMIUM, FLAGS, WAIT

    if not CHROMIUM.exists():
        if "CAPSVIZ_CHROMIUM" in os.environ:
            pytest.fail(f"CAPSVIZ_CHROMIUM names {CHROMIUM}, where nothing is")
        pytest.skip("Chromium is not on this machine: install it or set CAPSVIZ_CHROMIUM")
    from tests.browser.api import sync_api

    sync_api.expect.set_options(timeout=WAIT)
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()
