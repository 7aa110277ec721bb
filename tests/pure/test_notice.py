"""A house's notice counts while the house lives, and is followed by nobody after."""

import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from echomq_admin.house import notice
from echomq_admin.house.notice import NAME, Doubt, Notice
from echomq_admin.house.tenancy import Tenancy, is_taken

SECRET = "correct-horse"
BUS = f"redis://ops:{SECRET}@10.0.0.9:6379/0"
CONSOLE = "http://127.0.0.1:8000/"


@pytest.fixture
def tenancy(tmp_path: Path) -> Tenancy:
    """A house that lives here."""
    made = Tenancy(tmp_path)
    made.take(CONSOLE)
    return made


def test_it_is_for_its_owner_alone_and_shows_no_secret(tmp_path: Path, tenancy: Tenancy) -> None:
    put = Notice(BUS, CONSOLE, os.getpid())
    notice.put_up(tmp_path, put)
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    assert not list(tmp_path.glob(f"{NAME}.*"))
    assert notice.read(tmp_path) == put
    assert SECRET not in f"{put} {put!r}"
    tenancy.leave()


def test_a_house_that_is_coming_up_is_no_reason_to_guess(tmp_path: Path, tenancy: Tenancy) -> None:
    assert isinstance(notice.read(tmp_path), Doubt)
    tenancy.leave()
    assert notice.read(tmp_path) is None


def test_nothing_is_said_where_no_house_is(tmp_path: Path) -> None:
    assert notice.read(tmp_path) is None
    notice.take_down(tmp_path)


def test_a_house_that_ended_without_taking_it_down(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    notice.put_up(tmp_path, Notice(BUS, CONSOLE, ended.pid))
    doubt = notice.read(tmp_path)
    assert isinstance(doubt, Doubt)
    assert f"process {ended.pid}" in doubt.why
    assert SECRET not in doubt.why


def test_its_number_is_another_process_by_now(tmp_path: Path) -> None:
    """The number lives, but nobody holds the folder."""
    notice.put_up(tmp_path, Notice(BUS, CONSOLE, os.getpid()))
    assert isinstance(notice.read(tmp_path), Doubt)


def test_a_command_that_only_looks_keeps_no_house_from_starting(tmp_path: Path) -> None:
    (tmp_path / "house.lock").touch()
    looking = (tmp_path / "house.lock").open()
    fcntl.flock(looking, fcntl.LOCK_SH)
    Timer(0.1, looking.close).start()
    made = Tenancy(tmp_path)
    made.take(CONSOLE)
    assert is_taken(tmp_path)
    made.leave()


def test_another_house_holds_the_folder_by_now(tmp_path: Path, tenancy: Tenancy) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    notice.put_up(tmp_path, Notice(BUS, CONSOLE, ended.pid))
    assert isinstance(notice.read(tmp_path), Doubt)
    tenancy.leave()


@pytest.mark.parametrize("text", ["", "redis://old", "{}", "[]", '{"bus":1,"console":"","pid":-1}'])
def test_what_is_no_notice(tmp_path: Path, tenancy: Tenancy, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    assert isinstance(notice.read(tmp_path), Doubt)
    tenancy.leave()
