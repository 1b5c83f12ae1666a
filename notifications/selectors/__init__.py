"""Every read of the notifications app: one module per noun."""
