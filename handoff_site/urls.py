"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.i18n import set_language

from handoff_site import health, metrics, ways_in
from handoff_site.api import api, unknown_address

urlpatterns = [
    path("", include("handoff_site.board.urls")),
    path("sign-in/", ways_in.SignIn.as_view(), name="sign-in"),
    path("sign-in/link/", ways_in.sign_in_link, name="sign-in-link"),
    path("sign-out/", ways_in.SignOut.as_view(), name="sign-out"),
    path("password/", ways_in.PasswordChange.as_view(), name="password-change"),
    path("language/", set_language, name="set_language"),
    path("healthz", health.healthz, name="healthz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("admin/", admin.site.urls),
    re_path(r"^api/$", unknown_address),
    path("api/", api.urls),
    re_path(r"^api/", unknown_address),
]

handler400 = "handoff_site.refusals.bad_request"
handler403 = "handoff_site.refusals.forbidden"
handler404 = "handoff_site.refusals.not_found"
handler500 = "handoff_site.refusals.server_error"
