"""The board's addresses."""

from django.urls import path

from handoff_site.board import actions, dialogs, views

urlpatterns = [
    path("", views.page, name="board"),
    path("board/fragments", views.fragments, name="board-fragments"),
    path("board/search", views.search, name="board-search"),
    path("board/history", views.history, name="board-history"),
    path("board/ask", dialogs.ask, name="board-ask"),
    path("board/questions/<int:message_id>", views.thread, name="board-thread"),
    path("board/questions/<int:message_id>/answer", actions.answer, name="board-answer"),
    path("board/questions/<int:message_id>/close", actions.close, name="board-close"),
    path("board/projects/<slug:project>/plans", dialogs.plan_new, name="board-plan-new"),
    path("board/plans/<int:plan_id>", dialogs.plan_edit, name="board-plan-edit"),
    path("board/plans/<int:plan_id>/delete", actions.plan_delete, name="board-plan-delete"),
    path("board/plans/<int:plan_id>/steps", dialogs.task_new, name="board-task-new"),
    path("board/plans/<int:plan_id>/list", dialogs.tasks_paste, name="board-tasks-paste"),
    path("board/plans/<int:plan_id>/copy", actions.plan_duplicate, name="board-plan-duplicate"),
    path("board/plans/<int:plan_id>/export", views.export, name="board-plan-export"),
    path("board/plans/<int:plan_id>/<slug:status>", actions.plan_status, name="board-plan-status"),
    path("board/steps/<int:task_id>", dialogs.task_edit, name="board-task-edit"),
    path("board/steps/<int:task_id>/move", actions.task_move, name="board-task-move"),
    path("board/steps/<int:task_id>/delete", actions.task_delete, name="board-task-delete"),
    path("board/steps/<int:task_id>/<slug:action>", actions.task_action, name="board-task-action"),
]
