"""Every read of the coordination app: one module per noun. Nothing here writes."""
