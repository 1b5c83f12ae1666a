"""The admin of sessions, messages, tokens and events: one module per noun.

Nothing is written here but through the services, whose refusals people read on the page.
"""

from django.contrib import admin

from coordination.admin.agent_tokens import AgentTokenAdmin
from coordination.admin.events import EventAdmin
from coordination.admin.messages import MessageAdmin
from coordination.admin.sessions import SessionAdmin
from coordination.admin.tokens import ApiTokenAdmin
from coordination.models import AgentToken, ApiToken, Event, Message, Session

admin.site.register(Session, SessionAdmin)
admin.site.register(Message, MessageAdmin)
admin.site.register(ApiToken, ApiTokenAdmin)
admin.site.register(AgentToken, AgentTokenAdmin)
admin.site.register(Event, EventAdmin)
