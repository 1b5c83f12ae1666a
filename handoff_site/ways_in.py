"""Ways in and out: the sign-in page, the one-time link, sign-out, a new password."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login, views
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import AbstractBaseUser, User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from sesame.backends import ModelBackend as LinkBackend
from sesame.utils import get_query_string

from handoff_site.board.hub import hub

PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"  # noqa: S105 - a class's name


class SignIn(views.LoginView):
    """Ask for a name and a password."""

    redirect_authenticated_user = True


class SignOut(views.LogoutView):
    """End the session and its open boards; only by POST, so that no link elsewhere can."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Sign out, then tell the boards."""
        response = super().post(request, *args, **kwargs)
        hub().signed_out()
        return response


class PasswordChange(views.PasswordChangeView):
    """Change one's own password, then say so on the board."""

    success_url = reverse_lazy("board")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Confirm once it is done."""
        response = super().form_valid(form)
        messages.success(self.request, _("Your password is changed."))
        return response


def link_for(user: AbstractBaseUser) -> str:
    """Return the path of a link that signs `user` in: ten minutes, once."""
    return reverse("sign-in-link") + get_query_string(user)


@never_cache
@require_safe
def sign_in_link(request: HttpRequest) -> HttpResponse:
    """Sign in whoever opens a fresh link, and take the token out of the address."""
    if request.method == "HEAD" or "prefetch" in request.headers.get("Sec-Purpose", ""):
        # A browser guessing ahead, or a preview, must not use the link up.
        return HttpResponse(status=204)
    user = LinkBackend().authenticate(request, request.GET.get("sesame"))
    if user is not None and _use_up(user):
        login(request, user, backend=PASSWORD_BACKEND)
    elif not request.user.is_authenticated:
        messages.error(
            request,
            _("This sign-in link was already used or is older than ten minutes. "
              "Sign in with your password, or print a new link: manage.py sign_in_link."),
        )  # fmt: skip
        return redirect("sign-in")
    response = redirect("board")
    response["Referrer-Policy"] = "no-referrer"
    return response


def _use_up(user: AbstractBaseUser) -> bool:
    """Move the date that the link signs; False when another request just did."""
    same = User.objects.filter(pk=user.pk, last_login=user.last_login)
    return bool(same.update(last_login=timezone.now()))
