"""What every room of the house keeps to: size, names, words, and pages without inline code."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _tracked(*endings: str) -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    return [ROOT / name for name in names if name.endswith(endings) and (ROOT / name).is_file()]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_module_outgrows_a_reader() -> None:
    long = {
        _name(path): size
        for path in _tracked(".py", ".js", ".lua", ".css", "/dev")
        if (size := path.read_text().count("\n")) > 400
    }
    assert not long


def test_no_drawer_without_a_label() -> None:
    drawers = re.compile(r"(^|/)(utils?|helpers?|common|misc|stuff)(\.\w+)?(/|$)")
    assert not [_name(path) for path in _tracked("") if drawers.search(_name(path))]


def test_templates_hold_no_inline_code_or_style() -> None:
    """The content policy forbids them; a page that carried one would be broken in the field."""
    inline = re.compile(
        r"<style|<script(?![^>]*\b(src|type=\"application/json\"))|\son\w+=|\sstyle=|javascript:|hx-on",
        re.IGNORECASE,
    )
    bad = {
        _name(path): found[0]
        for path in _tracked(".html")
        if (found := inline.search(path.read_text()))
    }
    assert not bad


def test_no_template_trusts_the_bus() -> None:
    """What comes from the bus is escaped; a template marks nothing as safe."""
    trusting = re.compile(r"\|\s*safe\b|autoescape off")
    assert not [_name(path) for path in _tracked(".html") if trusting.search(path.read_text())]


def test_no_third_party_file_is_committed() -> None:
    foreign = re.compile(r"\.min\.(js|css)$|(^|/)(vendor|node_modules|third_party)/")
    assert not [_name(path) for path in _tracked("") if foreign.search(_name(path))]


def test_scripts_never_walk_a_keyspace() -> None:
    walking = re.compile(r"'(KEYS|SMEMBERS|HGETALL)'|ZRANGE',[^)]*, 0, -1", re.IGNORECASE)
    allowed = {"lua/reads/job.lua", "lua/reads/get_job.lua"}  # one job's row: its fields are few
    bad = {
        _name(path): found[0]
        for path in _tracked(".lua")
        if (found := walking.search(path.read_text())) and _name(path) not in allowed
    }
    assert not bad
