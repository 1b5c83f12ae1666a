"""One ASGI application: pages and REST through Django, the board's socket through Channels."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "handoff_site.settings")
application = get_asgi_application()
