"""The plan editor: plans with their steps, and every step on its own. One module per noun.

Nothing is written here but through the services, whose refusals people read on the page.
"""

from django.contrib import admin

from plans.admin.plan import PlanAdmin
from plans.admin.task import TaskAdmin
from plans.models import Plan, Task

admin.site.register(Plan, PlanAdmin)
admin.site.register(Task, TaskAdmin)
