"""Claude Code's hooks: what they answer, and how a project gets them."""
