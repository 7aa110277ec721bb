"""Buttons of actions, drawn by what whoever looks may do.

Markup that frames share among browsers carries no token: the page sends the CSRF token with
every request of htmx, and a dialog's form is drawn for one person.
"""

import json
from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from echomq_admin.actions import ACTIONS
from echomq_admin.actions.action import Target
from echomq_admin.live.page import to_path
from echomq_admin.permissions import read_only
from echomq_admin.templatetags.echomq import icon
from echomq_admin.views.asked import named

register = template.Library()


@register.simple_tag(takes_context=True)
def verb(
    context: template.Context,
    action: str,
    queue: bytes = b"",
    item: bytes = b"",
    game: bytes = b"",
    lane: bytes = b"",
    expect: str | bytes = "",
    off: str = "",
    word: str = "",
    look: str = "",
    **params: Any,
) -> SafeString:
    """The button of an action on a target of the current bus.

    `lane` is where an item stands whose row does not say so, `expect` the state shown beside it,
    `off` a reason why it cannot be pressed now, `word` another word for it, `look` more classes
    (primary, quiet). Other arguments are parameters of the action. Without the right, while the
    console is read-only, or where the bus takes no write (`no_writes` of the context) it is dashed
    and says so.
    """
    known = ACTIONS[action]
    watch = context["watch"]
    shown = word or known.word
    if read_only():
        why = "The console is read-only."
    elif not known.may(watch):
        why = f"Needs the permission {known.permission}."
    else:
        why = context.get("no_writes") or off
    classes = " ".join(filter(None, ("btn", "danger" if known.danger else "", look)))
    if why:
        return format_html(
            '<button class="{}" type="button" aria-disabled="true" title="{}">{}<span>{}</span>'
            '<span class="sr"> {}</span></button>',
            classes, why, icon(known.icon), shown, why,
        )  # fmt: skip
    asked = named(Target(watch.bus, queue, item, game, lane))
    if expect not in ("", None):
        asked["expect"] = expect.decode("ascii", "replace") if isinstance(expect, bytes) else expect
    asked |= {
        name: to_path(value) if isinstance(value, bytes) else str(value)
        for name, value in params.items()
        if value is not None
    }
    if known.dialog:
        address = f"{reverse('echomq_admin:dialog', args=[action])}?{urlencode(asked)}"
        return format_html(
            '<a class="{}" role="button" href="{}" hx-get="{}" hx-target="#dialog"'
            ' hx-swap="innerHTML" data-action="{}" title="{}">{}<span>{}</span></a>',
            classes, address, address, action, shown, icon(known.icon), shown,
        )  # fmt: skip
    return format_html(
        '<button class="{}" type="button" hx-post="{}" hx-vals="{}" hx-target="#toasts"'
        ' hx-swap="afterbegin" hx-disabled-elt="this" data-action="{}" title="{}">{}'
        "<span>{}</span></button>",
        classes,
        reverse("echomq_admin:act", args=[action]),
        json.dumps(asked),
        action,
        shown,
        icon(known.icon),
        shown,
    )
