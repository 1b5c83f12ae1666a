"""Plans as text that people keep, edit and share: whole plans as Markdown, and pasted lists."""
