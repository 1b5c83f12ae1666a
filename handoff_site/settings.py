"""Settings: one file; every knob is an environment variable, read by a typed helper.

Two roles share it. The web side (the default) loads everything; an agent's `runmcp` process
(`HANDOFF_ROLE=agent`, set by manage.py) loads the models and the tools only, so that it starts
fast and stays small.
"""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import tzlocal
from csp.constants import NONCE, NONE, SELF, UNSAFE_EVAL
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent


def env_str(name: str, default: str = "") -> str:
    """Read a text setting; a blank value counts as unset."""
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool = False) -> bool:
    """Read a yes/no setting."""
    value = env_str(name).lower()
    if value in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
        return value in {"1", "true", "yes", "on"} if value else default
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {value!r}.")


def env_int(name: str, default: int, *, low: int = 1) -> int:
    """Read a whole number of at least `low`."""
    value = env_str(name)
    try:
        number = int(value) if value else default
    except ValueError:
        number = low - 1
    if number < low:
        raise ImproperlyConfigured(f"{name} must be a whole number from {low}, not {value!r}.")
    return number


def env_choice(name: str, choices: tuple[str, ...]) -> str:
    """Read one of `choices`, the first by default."""
    value = env_str(name, choices[0]).lower()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
    return value


def env_list(name: str, default: list[str]) -> list[str]:
    """Read a comma-separated list."""
    return [part.strip() for part in env_str(name).split(",") if part.strip()] or default


def stored_secret(path: Path) -> str:
    """Return the secret kept in `path`, made at the first start and readable by its owner only.

    A folder that cannot be written gives a secret for this process alone: sessions then end
    with it, and the `handoff.E001` check says so.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(50))
        if stored := path.read_text().strip():
            return stored
    return secrets.token_urlsafe(50)


# --- Role, folders, secret ------------------------------------------------------------------

ROLE = env_str("HANDOFF_ROLE", "web")
IS_AGENT = ROLE == "agent"
DATA_DIR = Path(BASE_DIR, env_str("HANDOFF_DATA_DIR", "data"))
# An agent signs nothing: it neither needs nor reads the site's secret.
SECRET_KEY = env_str("HANDOFF_SECRET_KEY") or (
    secrets.token_urlsafe(50) if IS_AGENT else stored_secret(DATA_DIR / "secret_key")
)
DEBUG = env_bool("HANDOFF_DEBUG")

# --- Database -------------------------------------------------------------------------------

DATABASE_URL = env_str("DATABASE_URL")
# A relative path is taken from the project, not from wherever the agent was started.
SQLITE_PATH = Path(BASE_DIR, Path(env_str("MCP_HANDOFF_DB", "data/handoff.sqlite")).expanduser())
# How long a write waits for its turn. A tool call makes two at most, and must answer in 10 s.
BUSY_TIMEOUT_SECONDS = 4.5
# SQLite's own share of that wait, begun anew until it is over: handoff_site/sqlite says why.
BUSY_RETRY_SECONDS = 0.05

# An agent keeps its one connection; the web side's requests each have a thread that ends with
# them, and a connection kept there would serve nobody.
CONNECTION_SECONDS = 600 if IS_AGENT else 0


def sqlite_database(path: Path) -> dict[str, Any]:
    """Return the settings of one SQLite file shared by many processes."""
    return {
        "ENGINE": "handoff_site.sqlite",
        "NAME": str(path),
        "CONN_MAX_AGE": CONNECTION_SECONDS,
        "OPTIONS": {
            # Take the write lock when the transaction begins: a read that turns into a write
            # halfway cannot wait for its turn, it fails at once.
            "transaction_mode": "IMMEDIATE",
            "timeout": BUSY_RETRY_SECONDS,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


def postgresql_database(url: str) -> dict[str, Any]:
    """Return the settings of one PostgreSQL database, reached directly or through PgBouncer.

    An agent has one plain connection. The web side's threads share a pool, whose waits are
    short: a request gets its sentence within ten seconds while the server is away, and a
    connection soon after it is back.
    """
    if urlsplit(url).scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(
            "DATABASE_URL must begin with postgresql://; for SQLite, set MCP_HANDOFF_DB instead."
        )
    database: dict[str, Any] = dict(
        dj_database_url.parse(
            url,
            engine="handoff_site.postgresql",
            conn_max_age=CONNECTION_SECONDS,
            conn_health_checks=True,
            # A cursor on the server outlives its transaction, which PgBouncer may end.
            disable_server_side_cursors=True,
        )
    )
    options: dict[str, Any] = {
        "connect_timeout": 3,
        "tcp_user_timeout": 8000,
        "keepalives_idle": 30,
    }
    if not IS_AGENT:
        options["pool"] = {
            "min_size": env_int("HANDOFF_POOL_MIN", 1, low=0),
            "max_size": env_int("HANDOFF_POOL_MAX", 10),
            "timeout": 5,
            "reconnect_timeout": 2,
        }
    database["OPTIONS"] = options | database.get("OPTIONS", {})
    return database


DATABASES: dict[str, Any] = {
    "default": postgresql_database(DATABASE_URL) if DATABASE_URL else sqlite_database(SQLITE_PATH)
}
# Leads the event feed past a pooler, which has no LISTEN; else it reads at short intervals there.
LISTEN_URL = env_str("HANDOFF_LISTEN_URL")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Applications ---------------------------------------------------------------------------

DOMAIN_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "coordination",
    "plans",
    "mcp_bridge",
]
WEB_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "handoff_site.apps.HandoffAdminConfig",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "ninja",
    "csp",
    "axes",
    "notifications",
    "handoff_site.apps.HandoffSiteConfig",
]
INSTALLED_APPS = DOMAIN_APPS if IS_AGENT else WEB_APPS + DOMAIN_APPS

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "handoff_site.refusals.DatabaseAwayMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "handoff_site.language.ChosenLanguageMiddleware",
    "handoff_site.api_refusals.ApiRefusalsMiddleware",
    "django.middleware.common.CommonMiddleware",
    "handoff_site.origins.OriginMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "handoff_site.urls"
ASGI_APPLICATION = "handoff_site.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# --- Who may come in ------------------------------------------------------------------------

HOST = env_str("HANDOFF_HOST", "127.0.0.1")
PORT = env_int("HANDOFF_PORT", 7878)
ALLOWED_HOSTS = env_list("HANDOFF_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_FAILURE_VIEW = "handoff_site.refusals.csrf_failure"
CSRF_TRUSTED_ORIGINS = env_list("HANDOFF_TRUSTED_ORIGINS", [])
# Cookies travel over HTTPS only, except on a site that serves this machine alone.
ON_LOOPBACK = set(ALLOWED_HOSTS) <= {"127.0.0.1", "localhost", "[::1]"}
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not ON_LOOPBACK
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Cookies ignore ports: names of our own keep other local servers from signing people out.
SESSION_COOKIE_NAME = "handoff_session"
CSRF_COOKIE_NAME = "handoff_csrf"
LANGUAGE_COOKIE_NAME = "handoff_language"
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if env_bool("HANDOFF_BEHIND_PROXY") else None
)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "board"
LOGOUT_REDIRECT_URL = "sign-in"
# The printed sign-in link: ten minutes, once (a sign-in changes last_login, which it signs).
SESAME_MAX_AGE = 600
SESAME_ONE_TIME = True
# Five wrong passwords shut a name out, from one address, for five minutes.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 5 / 60
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_ENABLE_ADMIN = False
AXES_LOCKOUT_TEMPLATE = "registration/locked_out.html"

# Nothing inline runs. The admin's own theme evaluates expressions (Alpine): its pages add
# 'unsafe-eval', and nothing else, in handoff_site/admin_site.py.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
ADMIN_SCRIPT_SRC = [SELF, NONCE, UNSAFE_EVAL]

# --- Language and time ----------------------------------------------------------------------

LANGUAGES = [("fr", "Français"), ("en", "English")]
LANGUAGE_CODE = env_str("HANDOFF_LANGUAGE", "fr")
LOCALE_PATHS = [] if IS_AGENT else [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = env_str("HANDOFF_TIME_ZONE") or tzlocal.get_localzone_name() or "UTC"

# --- Static files, sockets, logs ------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Served straight from the packages that ship them: nothing to collect before a first start.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

REDIS_URL = env_str("REDIS_URL")
CHANNEL_LAYERS: dict[str, Any] = {
    "default": {
        "BACKEND": "handoff_site.board.layer.PatientRedisLayer",
        # Longer than the layer's own waits of 5 s: a Redis that hangs counts as away.
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "socket_timeout": 8, "socket_connect_timeout": 2}]
        },
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

LOG_LEVEL = env_str("HANDOFF_LOG_LEVEL", "INFO").upper()
# Django's own defaults load its error pages and mail, which an agent's process has no use for:
# runmcp applies LOGGING by itself.
LOGGING_CONFIG = None if IS_AGENT else "logging.config.dictConfig"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "handoff_site.logs.OneLineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        }
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "stream": "ext://sys.stderr",
            "formatter": "line",
        }
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        # Without Django's own handlers, which mail administrators and colour lines.
        "django": {"handlers": ["stderr"], "level": LOG_LEVEL, "propagate": False},
        # A refusal is an answer, not an incident.
        "django.request": {"level": "ERROR"},
        "axes": {"level": "WARNING"},
        # Each attempt while the server is away: the request that waits says so once.
        "psycopg.pool": {"level": "ERROR"},
        # It would name every MCP session that opens and ends.
        "mcp": {"level": "WARNING"},
        "django.server": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Handoff",
    "SITE_HEADER": "Handoff",
    "SITE_SYMBOL": "handshake",
    "SHOW_LANGUAGES": True,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda _request: "/static/board/icon.svg"}
    ],
    "SCRIPTS": [lambda _request: "/static/admin_theme/admin.js"],
}

# --- Product --------------------------------------------------------------------------------

# Who sends it as a bearer token may read /metrics from anywhere; without it, this machine may.
METRICS_TOKEN = env_str("HANDOFF_METRICS_TOKEN")
# Events feed the boards and their activity list; older ones than this are pruned.
EVENT_RETENTION_DAYS = env_int("HANDOFF_EVENT_RETENTION_DAYS", 30)
# A validation is held by a lease that its runner renews; past it, the runner counts as dead.
LEASE_SECONDS = env_int("HANDOFF_LEASE_SECONDS", 30)
# Who sends notifications: the web process, `manage.py notify` apart, or nobody.
NOTIFY = env_choice("HANDOFF_NOTIFY", ("web", "apart", "off"))
# What is handled within this time is not told at all.
NOTIFY_DELAY_SECONDS = env_int("HANDOFF_NOTIFY_DELAY_SECONDS", 15, low=0)
# After a first failure; each further one doubles it, up to half an hour.
NOTIFY_RETRY_SECONDS = env_int("HANDOFF_NOTIFY_RETRY_SECONDS", 15)
# What links in notifications begin with; the address served by default.
PUBLIC_URL = env_str("HANDOFF_PUBLIC_URL").rstrip("/")
