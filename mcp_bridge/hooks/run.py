"""Answer one of Claude Code's hooks: `python -I run.py PROJECT`, with the hook's JSON on stdin.

A file of its own, so that it runs from any folder, without Django, and whatever goes wrong.
"""

import sys

try:
    sys.path.insert(0, __file__.rpartition("/mcp_bridge/")[0])
    from mcp_bridge.hooks.answer import main

    main(sys.argv[1])
except Exception as error:  # a hook that fails must hold nobody up
    print(f"handoff: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
