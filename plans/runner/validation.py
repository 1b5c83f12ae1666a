"""Validate steps in the background of one process, each held by a lease and surely ended.

The database is visited in short calls; whatever is long is asyncio between them.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.utils import Error
from django.utils.translation import gettext as _

from coordination.actors import Actor
from coordination.errors import Conflict, Invalid
from plans.rules import ShellRule, parse_rule
from plans.runner.artifact import run_artifact
from plans.runner.folder import folder_for
from plans.runner.outcome import Outcome
from plans.runner.shell import run_shell
from plans.selectors.tasks import TaskDetail
from plans.services.steps import begin_validation, finish_validation, renew_lease

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 36.0
"""How long a caller waits for the outcome, from when its call came: it must have its answer within
45 s, even when the database is then busy for the longest that another call may keep it."""
PROGRESS_SECONDS = 3.0
SHUTDOWN_SECONDS = 3.0
RENEWALS_PER_LEASE = 5
"""Several may fail before the lease is over."""
RETRY_SECONDS = 0.5

Crossing = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Does synchronous work in the thread that has the database connection."""
Progress = Callable[[float, float | None], Awaitable[None]]
"""Told the seconds gone, and the rule's time limit if it has one."""
FolderOf = Callable[[TaskDetail], Path]
"""Returns the folder where a step's rule runs, or refuses."""


def folder_of_this_process(task: TaskDetail) -> Path:
    """Return the folder that MCP_PROJECT_CWD names, where the step's rule needs one."""
    return folder_for(task.validation_mode, task.validation_rule)


@dataclass(frozen=True, slots=True)
class Validation:
    """A step and its outcome; no outcome yet means that its rule still runs."""

    task: TaskDetail
    outcome: Outcome | None


class Runner:
    """The validations of one process."""

    def __init__(self, in_database: Crossing, folder_of: FolderOf = folder_of_this_process) -> None:
        self._in_database = in_database
        self._folder_of = folder_of
        self._runs: dict[asyncio.Task[Validation], _Run] = {}

    async def validate(
        self,
        *,
        actor: Actor,
        task_id: int,
        progress: Progress | None = None,
        since: float | None = None,
    ) -> Validation:
        """Run the current step's rule; return its outcome, or that it goes on after a while.

        The while is ANSWER_SECONDS from `since` (monotonic), when the caller began to wait.
        A cancellation ends the run, and with it the attempt.

        Raises:
            NotFound, Forbidden, Conflict: refused, and nothing has changed; or, if the step was
                taken from this runner meanwhile, what others did stands.
        """
        until = (time.monotonic() if since is None else since) + ANSWER_SECONDS
        run = _Run(self._in_database, self._folder_of, actor, task_id)
        work = asyncio.ensure_future(run.work())
        self._runs[work] = run
        work.add_done_callback(self._ended)
        try:
            await _wait(work, run, progress, until)
        except asyncio.CancelledError:
            run.stop(_("the validation was cancelled by the client"))
            raise
        return work.result() if work.done() else Validation(run.begun.result(), None)

    async def shutdown(self) -> None:
        """End every run within three seconds; one whose end cannot be stored leaves its lease."""
        for run in self._runs.values():
            run.stop(_("the session ended during the validation"))
        if self._runs:
            await asyncio.wait(self._runs, timeout=SHUTDOWN_SECONDS)

    def _ended(self, work: asyncio.Task[Validation]) -> None:
        run = self._runs.pop(work)
        if not work.cancelled() and (error := work.exception()) and run.begun.done():
            # Nobody may be waiting any more: the log is then the only place that can tell.
            logger.warning("validation of step #%s: %s", run.task_id, error)


async def _wait(
    work: asyncio.Task[Validation], run: "_Run", progress: Progress | None, until: float
) -> None:
    """Wait for the end, telling of progress meanwhile, or until the caller must have an answer."""
    clock = time.monotonic
    started = clock()
    while not work.done() and (left := until - clock()) > 0:
        await asyncio.wait({work}, timeout=min(left, PROGRESS_SECONDS) if progress else left)
        if progress and not work.done():
            await progress(round(clock() - started, 1), run.limit)
    either: set[asyncio.Future[Any]] = {work, run.begun}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)


class _Run:
    """One validation from its begin to its end.

    It is stopped by an event, never cancelled: cancelled inside a database call, it would not
    know whether that had taken place.
    """

    def __init__(
        self, in_database: Crossing, folder_of: FolderOf, actor: Actor, task_id: int
    ) -> None:
        self.task_id = task_id
        self.begun: asyncio.Future[TaskDetail] = asyncio.get_running_loop().create_future()
        self.limit: float | None = None
        self._in_database = in_database
        self._folder_of = folder_of
        self._actor = actor
        # One a run, not one a process: a run that lost its step must not finish a later one's.
        self._runner_id = secrets.token_hex(16)
        self._stopped = asyncio.Event()
        self._reason = ""

    def stop(self, reason: str) -> None:
        """Make an end; `reason` becomes the error, unless the rule has ended already."""
        self._reason = self._reason or reason
        self._stopped.set()

    async def work(self) -> Validation:
        """Begin, run the rule while the lease is renewed, finish."""
        task, folder = await self._in_database(self._begin)
        self.begun.set_result(task)
        lease = asyncio.ensure_future(self._hold_lease())
        try:
            outcome, final = await self._run_rule(task, folder, lease)
            ended = await self._finish(outcome, final)
        finally:
            lease.cancel()
        if ended is None:
            raise Conflict(
                _("step #{id} was changed during its validation; mf_next_step says what to do.")
                .format(id=self.task_id),
                code="lost",
            )  # fmt: skip
        return Validation(ended, outcome)

    def _begin(self) -> tuple[TaskDetail, Path]:
        """Take the step, if its rule can run here at all."""
        with transaction.atomic():
            task = begin_validation(
                actor=self._actor, task_id=self.task_id, runner_id=self._runner_id
            )
            # Refused here, the step has never left `current`.
            return task, self._folder_of(task)

    async def _run_rule(
        self, task: TaskDetail, folder: Path, lease: asyncio.Future[None]
    ) -> tuple[Outcome, bool]:
        """Return the rule's outcome, and whether it can never be another."""
        try:
            rule = parse_rule(task.validation_mode, task.validation_rule)
        except Invalid as error:
            return Outcome(False, "", error.message), True
        self.limit = rule.timeout if isinstance(rule, ShellRule) else None
        running = asyncio.ensure_future(
            run_shell(rule, folder) if isinstance(rule, ShellRule)
            else run_artifact(rule or [], folder)
        )  # fmt: skip
        stopping = asyncio.ensure_future(self._stopped.wait())
        ends: set[asyncio.Future[Any]] = {running, stopping, lease}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not running.done():
            running.cancel()
            await asyncio.wait({running})
            return Outcome(False, "", self._reason or _("this runner lost the step")), False
        return self._checked(running), False

    def _checked(self, running: asyncio.Future[Outcome]) -> Outcome:
        if error := running.exception():
            logger.error("step #%s: %s: %s", self.task_id, type(error).__name__, error)
            return Outcome(False, "", _("the rule could not be run; see this server's log"))
        return running.result()

    async def _hold_lease(self) -> None:
        """Renew the lease; return when the step is no longer ours."""
        while True:
            await asyncio.sleep(settings.LEASE_SECONDS / RENEWALS_PER_LEASE)
            try:
                held = await self._in_database(
                    lambda: renew_lease(task_id=self.task_id, runner_id=self._runner_id)
                )
            except Error as error:
                logger.warning("step #%s: lease not renewed: %s", self.task_id, error)
                continue
            if not held:
                return

    async def _finish(self, outcome: Outcome, final: bool) -> TaskDetail | None:
        """Store the outcome; a database that is busy gets until the lease would be over."""
        clock = asyncio.get_running_loop().time
        until = clock() + settings.LEASE_SECONDS
        while True:
            try:
                return await self._in_database(
                    lambda: finish_validation(
                        actor=self._actor,
                        task_id=self.task_id,
                        runner_id=self._runner_id,
                        passed=outcome.passed,
                        evidence=outcome.evidence,
                        error=outcome.error,
                        final=final,
                    )
                )
            except Error as error:
                if clock() > until:
                    raise
                logger.warning("step #%s: outcome not stored yet: %s", self.task_id, error)
                await asyncio.sleep(RETRY_SECONDS)
