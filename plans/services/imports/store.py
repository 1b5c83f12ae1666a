"""Store what was read: all or nothing, once only, under the same ids where they are free."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.models import Max, Model, Q
from django.utils.translation import gettext as _

from coordination import events
from coordination.actors import Actor
from coordination.models import Message, MessageStatus, Session
from coordination.services import sessions
from coordination.text import fold
from plans.events import Verb
from plans.models import ImportedRow, Plan, PlanStatus, Task, TaskStatus
from plans.services.imports.source import (
    Fault,
    MessageRow,
    NumberedRow,
    PlanRow,
    Source,
    TaskRow,
    at,
    moment,
    read,
)
from plans.services.plans import settle
from plans.services.steps import RUNNER_CRASHED
from plans.states import ACTIVE, SETTLED

ACTOR = Actor.human("import")
BATCH = 400


@dataclass(slots=True)
class Report:
    """What an import did, or would do."""

    added: Counter[str] = field(default_factory=Counter)  # rows by table
    known: Counter[str] = field(default_factory=Counter)  # here already, from an earlier run
    renumbered: Counter[str] = field(default_factory=Counter)  # whose id was taken here
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what was changed on the way in
    stored: bool = False


def import_handoff(*, path: Path, dry_run: bool = False, skip_bad: bool = False) -> Report:
    """Take over an original server's file in one transaction.

    A dry run does the same work and takes it back. Bad rows stop the import, unless `skip_bad`
    leaves them out.

    Raises:
        Unreadable: not such a file.
    """
    source = read(path)
    report = Report(faults=sorted(source.faults))
    with transaction.atomic():
        _Import(source, report).run()
        report.stored = not dry_run and (skip_bad or not report.faults)
        if not report.stored:
            transaction.set_rollback(True)
    return report


class _Import:
    """One run: what is known from earlier ones, and where each row went."""

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report
        self.marks: list[ImportedRow] = []
        self.free: dict[str, int] = {}  # the last id given out, by table
        self.earlier = list(
            ImportedRow.objects.values_list("table", "source_id", "digest", "local_id")
        )
        self.known = {(table, row, digest): here for table, row, digest, here in self.earlier}

    def run(self) -> None:
        """Store everything that is new, and tell the boards."""
        self._sessions()
        self._messages()
        plan_ids, new_plans = self._plans()
        touched = self._tasks(plan_ids, new_plans)
        ImportedRow.objects.bulk_create(self.marks, batch_size=BATCH)
        for plan in Plan.objects.filter(pk__in=touched):
            settle(actor=ACTOR, plan=plan)
        self._restart_numbering()

    def _sessions(self) -> None:
        source = self.source
        named = [row.name for row in source.sessions] + [row.project for row in source.plans]
        for message in source.messages:
            named += [message.from_session, message.to_session or message.from_session]
        here = set(Session.objects.values_list("key", flat=True))
        place = Session.objects.exclude(key="human").aggregate(last=Max("position"))["last"] or 0
        for key in sorted(set(named) - here):
            place += 10
            sessions.save(actor=ACTOR, session=Session(key=key, position=place), adding=True)
            self.report.added["sessions"] += 1
        for row in source.sessions:
            seen = at(row.last_seen)
            older = Q(last_seen__isnull=True) | Q(last_seen__lt=seen)
            Session.objects.filter(older, key=row.name).update(last_seen=seen)

    def _messages(self) -> None:
        questions = [row for row in self.source.messages if row.parent_id is None]
        ids, new = self._place("messages", questions, Message)
        created = [_message(row, ids[row.id], None) for row in questions if row.id in new]
        Message.objects.bulk_create(created, batch_size=BATCH)
        for question in created:
            self._tell(Verb.QUESTION_IMPORTED, f"message:{question.pk}", title=question.subject)
        self._answers(ids, new)

    def _answers(self, question_ids: dict[int, int], new_questions: set[int]) -> None:
        rows = [
            (row, row.parent_id)
            for row in self.source.messages
            if row.parent_id is not None and row.parent_id in question_ids
        ]
        ids, new = self._place("messages", [row for row, _parent in rows], Message)
        created = [
            _message(row, ids[row.id], question_ids[parent])
            for row, parent in rows
            if row.id in new
        ]
        Message.objects.bulk_create(created, batch_size=BATCH)
        for row, parent in rows:
            if row.id in new and parent not in new_questions:  # an earlier run's question
                Message.objects.filter(pk=question_ids[parent], status=MessageStatus.OPEN).update(
                    status=MessageStatus.ANSWERED, resolved_at=at(row.created_at)
                )

    def _plans(self) -> tuple[dict[int, int], set[int]]:
        rows = self.source.plans
        ids, new = self._place("plans", rows, Plan)
        busy = {row.plan_id for row in self.source.tasks if row.status in ACTIVE}
        created = []
        for row in (row for row in rows if row.id in new):
            status = PlanStatus(row.status)
            if status == PlanStatus.ARCHIVED and row.id in busy:
                status = PlanStatus.PAUSED
                self.report.notes.append(
                    _("plans {id}: archived with an active step; it comes in paused.").format(
                        id=row.id
                    )
                )
            created.append(_plan(row, ids[row.id], status))
            self._tell(
                Verb.PLAN_IMPORTED,
                f"plan:{ids[row.id]}",
                plan=ids[row.id],
                project=row.project,
                title=row.title,
            )
        Plan.objects.bulk_create(created, batch_size=BATCH)
        return ids, new

    def _tasks(self, plan_ids: dict[int, int], new_plans: set[int]) -> set[int]:
        """Store the steps, and return the plans whose status may follow from them."""
        rows = [row for row in self.source.tasks if row.plan_id in plan_ids]
        ids, new = self._place("tasks", rows, Task)
        created = []
        for row in (row for row in rows if row.id in new):
            status, error = TaskStatus(row.status), row.last_error
            if status == TaskStatus.VALIDATING:
                status, error = TaskStatus.FAILED, RUNNER_CRASHED
                self.report.notes.append(
                    _("tasks {id}: its validation ends with the old server; it comes in failed.")
                    .format(id=row.id)
                )  # fmt: skip
            elif status in ACTIVE and row.plan_id not in new_plans:
                # Its plan lives on here, where another step may be active by now.
                status = TaskStatus.PENDING
            created.append(_task(row, ids[row.id], plan_ids[row.plan_id], status, error))
        Task.objects.bulk_create(created, batch_size=BATCH)
        touched = {task.plan_id for task in created}
        return touched | {plan_ids[source_id] for source_id in new_plans}

    def _place(
        self, table: str, rows: Sequence[NumberedRow], model: type[Model]
    ) -> tuple[dict[int, int], set[int]]:
        """Give every row its id here; return those ids, and which rows are new.

        A row that an earlier run brought and somebody deleted here has none, and stays away.
        """
        taken = set(model._default_manager.values_list("pk", flat=True))
        ids: dict[int, int] = {}
        new: set[int] = set()
        for row in rows:
            local_id = self.known.get((table, row.id, row.digest))
            if local_id is not None:
                self.report.known[table] += 1
                if local_id in taken:
                    ids[row.id] = local_id
                continue
            ids[row.id] = row.id if row.id not in taken else self._free_id(table, taken)
            new.add(row.id)
            self.report.added[table] += 1
            self.marks.append(
                ImportedRow(table=table, source_id=row.id, digest=row.digest, local_id=ids[row.id])
            )
        return ids, new

    def _free_id(self, table: str, taken: set[int]) -> int:
        """Return an id that neither a row here nor one of the file has or had."""
        rows: dict[str, Sequence[NumberedRow]] = {
            "messages": self.source.messages,
            "plans": self.source.plans,
            "tasks": self.source.tasks,
        }
        if table not in self.free:
            used = [mark for name, _id, _digest, mark in self.earlier if name == table]
            self.free[table] = max([*taken, *used, *(row.id for row in rows[table])])
        self.free[table] += 1
        self.report.renumbered[table] += 1
        return self.free[table]

    def _tell(self, verb: Verb, subject: str, **data: object) -> None:
        events.append(actor=ACTOR, verb=verb, subject=subject, **data)

    def _restart_numbering(self) -> None:
        """Let PostgreSQL go on after the ids that were given by hand; SQLite does by itself."""
        statements = connection.ops.sequence_reset_sql(no_style(), [Message, Plan, Task])
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


def _message(row: MessageRow, message_id: int, question_id: int | None) -> Message:
    answer = question_id is not None
    status = MessageStatus.CLOSED if answer else MessageStatus(row.status)
    return Message(
        pk=message_id,
        parent_id=question_id,
        from_session_id=row.from_session,
        to_session_id=None if answer else row.to_session,
        subject="" if answer else row.subject,
        subject_folded="" if answer else fold(row.subject),
        body=row.body,
        status=status,
        created_at=at(row.created_at),
        resolved_at=None if status == MessageStatus.OPEN else moment(row.resolved_at),
    )


def _plan(row: PlanRow, plan_id: int, status: PlanStatus) -> Plan:
    return Plan(
        pk=plan_id,
        project_id=row.project,
        title=row.title,
        status=status,
        created_at=at(row.created_at),
        updated_at=at(row.updated_at),
    )


def _task(row: TaskRow, task_id: int, plan_id: int, status: TaskStatus, error: str) -> Task:
    return Task(
        pk=task_id,
        plan_id=plan_id,
        position=row.position,
        title=row.title,
        instructions=row.instructions,
        validation_mode=row.validation_mode,
        validation_rule=row.rule,
        max_attempts=row.max_attempts,
        status=status,
        status_since=at(row.updated_at),
        attempts=row.attempts,
        last_proof=row.last_proof,
        last_error=error,
        started_at=moment(row.started_at),
        completed_at=moment(row.completed_at or row.updated_at) if status in SETTLED else None,
        created_at=at(row.created_at),
        updated_at=at(row.updated_at),
    )
