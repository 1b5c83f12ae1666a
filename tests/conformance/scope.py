"""Which scenarios ask for what this server does not have, and why it has not.

docs/conformance.md says the same to people; a test holds one to the other.
"""

VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")

OUT_OF_SCOPE = {
    "no resources: a plan must not leak past its current step": (
        "resources-list",
        "resources-read-text",
        "resources-read-binary",
        "resources-templates-read",
        "resources-subscribe",
        "resources-unsubscribe",
    ),
    "no prompts: what agents read about their work is in the tools and the instructions": (
        "prompts-list",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
    ),
    "no completion: it completes arguments of prompts and resources": ("completion-complete",),
    "no logging to clients: logs are for the people who run the site": (
        "logging-set-level",
        "tools-call-with-logging",
    ),
    "every answer is one text, which people read in the transcript": (
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
    ),
    "no tool asks the client for anything: questions go to sessions and to people": (
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        "input-required-result-basic-elicitation",
        "input-required-result-basic-sampling",
        "input-required-result-basic-list-roots",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
    ),
    "no answer is kept for a client that lost it: each tool can be called again": (
        "server-sse-polling",
    ),
    "looks at a tool of the suite's own test server, and at nothing else": (
        "json-schema-2020-12",
        "http-custom-header-server-validation",
    ),
}
"""Why, and the scenarios that are not for us at all."""

NOT_FOR_US = {
    "server-stateless": {
        "sep-2575-missing-capability-http-400": "no tool needs a capability of the client",
        "sep-2575-server-rejects-undeclared-capability": "no tool needs a capability of the client",
    },
    "caching": {
        "sep-2549-prompts-list-caching-hints": "no prompts",
        "sep-2549-resources-list-caching-hints": "no resources",
        "sep-2549-resources-templates-list-caching-hints": "no resources",
    },
}
"""Scenarios that are for us but for some of their checks, and why not those."""


def reason_for(scenario: str, check: str) -> str:
    """Return why a check is not for us; empty when it is."""
    for reason, scenarios in OUT_OF_SCOPE.items():
        if scenario in scenarios:
            return reason
    return NOT_FOR_US.get(scenario, {}).get(check, "")
