"""The console as a project of its own. A host project has settings of its own and needs of these
only the names that begin with ECHOMQ_, all with defaults in `config.py`.
"""

import json
import os
from pathlib import Path

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from echomq_admin.house import notice
from echomq_admin.secret import secret_key

BASE = Path(__file__).resolve().parent.parent
VAR = Path(os.environ.get("ECHOMQ_VAR") or BASE / "var").resolve()


def _words(name: str) -> list[str]:
    return [word for word in os.environ.get(name, "").replace(",", " ").split() if word]


def _switch(name: str) -> bool:
    return os.environ.get(name, "").lower() in {"1", "true", "yes", "on"}


def _json(name: str) -> dict[str, object]:
    try:
        found = json.loads(os.environ.get(name, "") or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ImproperlyConfigured(f"{name} is a JSON object of name and value.")
    return found


# What the console watches -----------------------------------------------------------------

ECHOMQ_BUSES = _json("ECHOMQ_BUSES")
if not ECHOMQ_BUSES and (_url := os.environ.get("ECHOMQ_BUS_URL")):
    ECHOMQ_BUSES = {"main": _url}
# Where nobody names a bus, commands of another shell are on that of the house that lives.
ECHOMQ_HOUSE = None if ECHOMQ_BUSES else notice.read(VAR)
if isinstance(ECHOMQ_HOUSE, notice.Notice):
    ECHOMQ_BUSES = {"main": ECHOMQ_HOUSE.bus}
ECHOMQ_QUEUES = _words("ECHOMQ_QUEUES")
ECHOMQ_HANDLERS = _json("ECHOMQ_HANDLERS")
ECHOMQ_READ_ONLY = _switch("ECHOMQ_READ_ONLY")
ECHOMQ_REDACT = _words("ECHOMQ_REDACT") or None
ECHOMQ_TIMEOUT_MS = int(os.environ.get("ECHOMQ_TIMEOUT_MS") or 5000)
ECHOMQ_CLI_USER = os.environ.get("ECHOMQ_CLI_USER", "")
ECHOMQ_VAR = VAR
ECHOMQ_PREFIX = os.environ.get("ECHOMQ_PREFIX", "").strip("/")
ECHOMQ_URL = os.environ.get("ECHOMQ_URL", "")

# Who may reach it ---------------------------------------------------------------------------

DEBUG = _switch("ECHOMQ_DEBUG")
SECRET_KEY = secret_key(VAR / "secret-key")
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *_words("ECHOMQ_HOSTS")]
CSRF_TRUSTED_ORIGINS = _words("ECHOMQ_ORIGINS")
HTTPS = _switch("ECHOMQ_HTTPS")

# Cookies of one host are shared by all its ports, so the names are our own.
SESSION_COOKIE_NAME = "echomq_session"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_PATH = f"/{ECHOMQ_PREFIX}/" if ECHOMQ_PREFIX else "/"
CSRF_COOKIE_NAME = "echomq_csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_PATH = SESSION_COOKIE_PATH
CSRF_FAILURE_VIEW = "echomq_admin.views.sign_in.csrf_failure"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# How it is put together ---------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "echomq_admin",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "echomq_admin.static_files.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "echomq_admin.mount"
# The prefix is taken off a path that has it; a proxy may have done so before.
FORCE_SCRIPT_NAME = f"/{ECHOMQ_PREFIX}" if ECHOMQ_PREFIX else None
ASGI_APPLICATION = "echomq_admin.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# A writer waits for another instead of failing; a reader never waits. NORMAL loses no committed
# row when the process dies, only the last ones when the machine loses power.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": VAR / "console.sqlite3",
        "OPTIONS": {
            "timeout": 10,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LOGIN_URL = "echomq_admin:login"
LOGIN_REDIRECT_URL = "echomq_admin:overview"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]

LANGUAGE_CODE = "en"
USE_TZ = True
TIME_ZONE = "UTC"

# In the tree the assets lie beside the package, in a wheel inside it.
STATIC_URL = f"/{ECHOMQ_PREFIX}/static/" if ECHOMQ_PREFIX else "/static/"
STATIC_ROOT = VAR / "static"
_VENDOR = next(
    (
        folder
        for folder in (VAR / "assets" / "vendor", BASE / "var" / "assets" / "vendor")
        if folder.is_dir()
    ),
    None,
)
STATICFILES_DIRS = [
    (prefix, folder)
    for prefix, folder in (
        ("echomq_admin", BASE / "static" / "echomq_admin"),
        ("echomq_admin/vendor", _VENDOR),
    )
    if folder and folder.is_dir()
]
STORAGES = {"staticfiles": {"BACKEND": "echomq_admin.static_files.Folder"}}
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = DEBUG
SERVESTATIC_MAX_AGE = 0

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    # A refusal is an answer, told by its page and kept in the audit; only failures are logged.
    "loggers": {"django.request": {"level": "ERROR"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("ECHOMQ_LOG", "WARNING")},
}
