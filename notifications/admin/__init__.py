"""The admin of notifications: where people are told, and what became of each. One module per noun.

Nothing is written here but through the services, whose refusals people read on the page.
"""

from django.contrib import admin

from notifications.admin.deliveries import DeliveryAdmin
from notifications.admin.targets import TargetAdmin
from notifications.models import Delivery, Target

admin.site.register(Target, TargetAdmin)
admin.site.register(Delivery, DeliveryAdmin)
