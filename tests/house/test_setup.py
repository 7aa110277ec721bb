"""`./dev` in a clone: what it says where something is missing, and that a second time is nothing.

Making a venv takes the network and half a minute, so these clones borrow the one that runs the
tests; its stamps hold the very files that are copied.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import django
import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    "dev", "requirements.txt", "tests/requirements.txt", "static/requirements.txt",
    "static/package.json", "static/package-lock.json",
)  # fmt: skip

NO_VENV = """
import runpy, sys
sys.modules["venv"] = None
runpy.run_path("dev", run_name="__main__")
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What `./dev setup` reads, without anything that it makes."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def ready(clone: Path) -> Path:
    """A clone that has been set up before."""
    (clone / ".venv").symlink_to(sys.prefix)
    shutil.copytree(ROOT / "var/assets", clone / "var/assets", symlinks=True)
    return clone


def told(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder."""
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env={**os.environ, **env}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_a_second_setup_does_nothing(ready: Path) -> None:
    before = sorted(ready.rglob("*"))
    done = told(ready, "dev", "setup")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Ready. ./dev run starts a live console.\n"
    assert sorted(ready.rglob("*")) == before


def test_a_missing_venv_module_is_named_with_what_installs_it(clone: Path) -> None:
    done = told(clone, "-c", NO_VENV, "setup", PATH="/nowhere")
    assert done.returncode == 1
    assert "python3-venv" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_in_the_way_is_named(clone: Path) -> None:
    (clone / "var").touch()
    (clone / ".venv").symlink_to(sys.prefix)
    done = told(clone, "dev", "setup")
    assert done.returncode == 1
    assert f"Cannot write {clone / 'var/assets'}" in done.stderr


def test_a_clone_that_cannot_be_written_is_one_line(clone: Path) -> None:
    (clone / ".venv").touch()
    done = told(clone, "dev", "setup")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Cannot write {clone / '.venv'}: ")
    assert done.stderr.count("\n") == 1


def test_a_missing_browser_is_named(ready: Path) -> None:
    done = told(ready, "dev", "test", CHROMIUM="/nowhere/chromium")
    assert done.returncode == 1
    assert "need Chromium" in done.stderr
    assert "passed" not in done.stdout


def test_a_missing_redis_is_named(ready: Path) -> None:
    done = told(ready, "dev", "test", CHROMIUM=sys.executable, REDIS_SERVER="/nowhere/redis")
    assert done.returncode == 1
    assert "need Redis 7.0 or later" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "passed" not in done.stdout


def test_a_found_redis_serves(ready: Path) -> None:
    asked = "import runpy; print(runpy.run_path('dev', run_name='dev')['find_redis']())"
    done = told(ready, "-c", asked, REDIS_SERVER=sys.executable)
    assert (done.stdout.strip(), done.stderr) == (sys.executable, "")


def test_the_commands_find_the_venv(ready: Path) -> None:
    """A Python without Django, as a shell's own is, hands over to that of the clone."""
    shutil.copy(ROOT / "manage.py", ready)
    done = told(ready, "-S", "manage.py", "version")
    assert (done.stdout.strip(), done.stderr) == (django.__version__, "")
    (ready / ".venv").unlink()
    done = told(ready, "-S", "manage.py", "version")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Django is not installed here. ./dev setup installs it.\n"


def test_help_names_every_verb_and_an_unknown_one_is_refused(clone: Path) -> None:
    words = told(clone, "dev", "help").stdout
    assert all(f"./dev {verb}" in words for verb in ("setup", "run", "test", "pictures", "bench"))
    done = told(clone, "dev", "party")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "There is no ./dev party. ./dev help lists what there is.\n"


def test_the_checks_of_ci_are_those_of_a_user() -> None:
    assert "exec ./dev test" in (ROOT / ".ci/run").read_text()
