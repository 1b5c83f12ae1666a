"""Fill an empty database with three sessions at work, so that a newcomer sees the product alive.

Everything goes through the services that agents and people use: the demo is in states that can
really happen. Only ages are made up.
"""

import datetime as dt

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import Conflict
from coordination.models import Message, Session
from coordination.services import messages, sessions
from plans.models import Plan, Task, ValidationMode
from plans.services import plans, steps, tasks, transitions

PERSON = Actor.human("demo")
PANEL, APP, SITE = Actor.agent("panel"), Actor.agent("app"), Actor.agent("site")
RUNNER = "demo"

SESSIONS = (
    ("panel", "#6366f1", "Back-office : facturation, exports, droits", 2),
    ("app", "#0d9488", "Application mobile : parcours et hors-ligne", 21),
    ("site", "#db2777", "Site public : pages, SEO, formulaires", 140),
)
"""Key, colour, what the session works on, and minutes since it was last seen."""

STUCK_TEST = """\
tests/test_exports.py ....F..                                              [100%]

=================================== FAILURES ===================================
____________________ test_csv_keeps_accents_of_customer_names __________________

    def test_csv_keeps_accents_of_customer_names():
>       assert first_row(export(customers)) == "Éléonore;Paris"
E       AssertionError: assert 'Ã‰lÃ©onore;Paris' == 'Éléonore;Paris'

tests/test_exports.py:41: AssertionError
========================= 1 failed, 6 passed in 0.84s ==========================
"""


def create_demo() -> None:
    """Create sessions, plans in several states and a few threads, all or nothing.

    Raises:
        Conflict: the database has plans already.
    """
    with transaction.atomic():
        if Plan.objects.exists():
            raise Conflict(_("this database has plans: the demo goes into an empty one only."))
        # What people and agents wrote before keeps its dates.
        last_message = Message.objects.aggregate(last=Max("id"))["last"] or 0
        _sessions()
        _panel_plans()
        _app_plans()
        _site_plans()
        _threads()
        _age(last_message)


def _sessions() -> None:
    for index, (key, color, description, _seen) in enumerate(SESSIONS):
        session = Session.objects.filter(key=key).first()
        adding = session is None
        session = session or Session(key=key, color=color, position=10 * index + 10)
        session.description = session.description or description
        sessions.save(actor=PERSON, session=session, adding=adding)


def _panel_plans() -> None:
    """Show a step that waits to be validated, and a plan that is finished."""
    finished = _plan(PANEL, "Passer les montants en centimes")
    for title, text in (
        ("Ajouter la colonne `amount_cents`", "Migration réversible, valeurs copiées."),
        ("Lire et écrire les centimes", "Plus aucun `float` dans le calcul d'une facture."),
    ):
        _done(PANEL, _step(finished, title, text), "Fait, tests verts (212 passed).")
    plan = _plan(PANEL, "Export comptable trimestriel")
    _done(PANEL, _step(plan, "Décrire le format attendu", "D'après le modèle du cabinet."),
          "`docs/export.md`, relu avec la comptable.")  # fmt: skip
    step = _step(
        plan,
        "Écran d'export avec choix de la période",
        "Ajoute la page **Exports** au menu *Facturation*.\n\n"
        "- trimestre courant choisi par défaut\n"
        "- bouton désactivé tant que l'export tourne\n",
    )
    _step(plan, "Vérifier les totaux", "Le script compare l'export à la base.",
          mode=ValidationMode.SHELL, rule={"cmd": "make check-export", "timeout": 300},
          attempts=3)  # fmt: skip
    _step(plan, "Annoncer la nouveauté", "Trois phrases et une capture dans le journal.")
    steps.next_step(actor=PANEL)
    transitions.submit_for_human(
        actor=PANEL,
        task_id=step,
        proof="Page disponible sur `/exports`. Essayé avec T1 et T2 : fichiers de 1 204 et "
        "1 377 lignes, totaux égaux à ceux du tableau de bord.",
    )


def _app_plans() -> None:
    """Show a command that failed, with what it printed, and a paused plan."""
    plan = _plan(APP, "Offline mode")
    _done(APP, _step(plan, "Queue writes while offline", "Keep them in order, survive a restart."),
          "Queue in SQLite; killed the app mid-write ten times, nothing lost.")  # fmt: skip
    failing = _step(
        plan,
        "Exports keep accents",
        "The CSV must open in a spreadsheet with every accent intact.",
        mode=ValidationMode.SHELL,
        rule={"cmd": "pytest tests/test_exports.py", "timeout": 120},
    )
    _step(plan, "Show what is not synced yet", "A discreet badge; no modal dialog.")
    steps.next_step(actor=APP)
    steps.begin_validation(actor=APP, task_id=failing, runner_id=RUNNER)
    steps.finish_validation(
        actor=APP,
        task_id=failing,
        runner_id=RUNNER,
        passed=False,
        evidence=STUCK_TEST,
        error=_("exit status {status}").format(status=1),
    )
    later = _plan(APP, "Nouvel écran d'accueil")
    _step(later, "Maquette validée par Inès", "Lien vers la maquette dans la preuve.")
    plans.patch_plan(actor=PERSON, plan_id=later, status="paused")


def _site_plans() -> None:
    """Show a step whose agent is blocked, and one that files will decide."""
    plan = _plan(SITE, "Refonte de la page Tarifs")
    blocked = _step(plan, "Reprendre les prix du catalogue", "Source : API interne des offres.")
    _step(plan, "Publier le plan du site", "Avec la nouvelle page.",
          mode=ValidationMode.ARTIFACT,
          rule=[{"rule": "file_exists", "path": "public/sitemap.xml"},
                {"rule": "file_contains", "path": "public/sitemap.xml", "text": "/tarifs"}],
          )  # fmt: skip
    steps.next_step(actor=SITE)
    transitions.block_step(
        actor=SITE,
        task_id=blocked,
        reason="L'API des offres répond 403 : il me faut une clé de lecture.",
    )
    queued = _plan(SITE, "Contact form without a captcha")
    _step(queued, "Honeypot and rate limit", "No third party, no cookie.")


def _threads() -> None:
    question = messages.ask(
        actor=APP,
        to="panel",
        subject="Format des dates dans /api/invoices ?",
        body="Je reçois `2026-03-01` et parfois `01/03/2026`. Laquelle est voulue ?",
    )
    messages.answer(
        actor=PANEL,
        message_id=question.pk,
        body="**ISO 8601 partout.** L'autre vient de l'ancien import : corrigé ce matin.",
    )
    messages.ask(
        actor=PANEL,
        to="site",
        subject="Qui affiche encore l'ancienne grille tarifaire ?",
        body="Avant de la retirer de l'API, j'ai besoin de savoir si une page s'en sert.",
    )
    messages.ask(
        actor=SITE,
        to="human",
        subject="Clé de lecture pour l'API des offres",
        body="Peux-tu en créer une pour l'environnement de test ?",
    )
    messages.broadcast(
        actor=APP,
        subject="Node 22 from Monday on",
        body="CI moves to Node 22. Anything of yours that still needs 18?",
    )


def _age(last_message: int) -> None:
    """Spread the ages that people look at: presence, and how long things have waited."""
    now = timezone.now()
    for key, _color, _description, minutes in SESSIONS:
        seen = now - dt.timedelta(minutes=minutes)
        Session.objects.filter(key=key, last_seen__isnull=True).update(last_seen=seen)
        Task.objects.filter(plan__project=key).update(
            status_since=F("status_since") - dt.timedelta(minutes=minutes)
        )
    Message.objects.filter(pk__gt=last_message).update(
        created_at=F("created_at") - dt.timedelta(minutes=50)
    )
    Plan.objects.update(created_at=F("created_at") - dt.timedelta(days=1))


def _plan(owner: Actor, title: str) -> int:
    return plans.create_plan(actor=PERSON, project=owner.session, title=title).pk


def _step(
    plan_id: int,
    title: str,
    instructions: str,
    *,
    mode: ValidationMode = ValidationMode.MANUAL,
    rule: object = None,
    attempts: int = 1,
) -> int:
    task = tasks.add_task(
        actor=PERSON,
        plan_id=plan_id,
        title=title,
        instructions=instructions,
        validation_mode=mode,
        validation_rule=rule,
        max_attempts=attempts,
    )
    return task.pk


def _done(owner: Actor, task_id: int, proof: str) -> None:
    """Take the owner's next step through to the end."""
    steps.next_step(actor=owner)
    transitions.submit_for_human(actor=owner, task_id=task_id, proof=proof)
    transitions.validate_task(actor=PERSON, task_id=task_id)
