"""The admin site: Unfold's, with this site's ways in and out and its content policy."""

from collections.abc import Callable
from typing import Any

from csp.decorators import csp_replace
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import cache_control
from unfold.sites import UnfoldAdminSite

View = Callable[..., HttpResponseBase]


class HandoffAdminSite(UnfoldAdminSite):
    """One sign-in page, one sign-out, one password page: the site's own."""

    index_title = gettext_lazy("Administration")

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Let the theme evaluate its expressions on admin pages, and nowhere else."""
        relaxed = csp_replace({"script-src": settings.ADMIN_SCRIPT_SRC})
        return relaxed(super().admin_view(view, cacheable))

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Keep the theme's colours out of the page: they come as a style sheet."""
        context = super().each_context(request)
        del context["colors"]
        context["styles"] = [reverse("admin:theme"), *context["styles"]]
        return context

    def extra_urls(self) -> list[URLPattern]:
        """Add the theme's style sheet, which Unfold would write inline."""
        return [path("theme.css", self.theme, name="theme")]

    def theme(self, request: HttpRequest) -> HttpResponse:
        """Answer with the theme's colours as CSS variables."""
        colors = self._get_colors("COLORS", request)
        lines = [f"--border-radius: {self._get_config('BORDER_RADIUS', request)};"]
        for name, shades in colors.items():
            lines += [f"--color-{name}-{shade}: {value};" for shade, value in shades.items()]
        sheet = HttpResponse(":root {" + " ".join(lines) + "}", content_type="text/css")
        cache_control(max_age=3600)(lambda _request: sheet)(request)
        return sheet

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Send people to the sign-in page; refuse those who are signed in but not staff."""
        if request.user.is_authenticated:
            if self.has_permission(request):
                return redirect("admin:index")
            raise PermissionDenied(_("Your account may not use the administration."))
        return redirect_to_login(request.GET.get("next", reverse("admin:index")))

    def logout(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Keep the method: a sign-out is a POST."""
        return redirect("sign-out", preserve_request=True)

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Send people to the site's own page."""
        return redirect("password-change")
