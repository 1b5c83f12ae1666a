"""Every write of the coordination app: one module per noun."""
