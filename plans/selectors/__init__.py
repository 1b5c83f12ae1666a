"""Every read of the plans app: one module per noun. Nothing here writes."""
