"""Every write of the notifications app: one module per noun."""
