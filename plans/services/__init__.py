"""Every write of the plans app: one module per noun.

Whoever writes to a plan or to its steps takes the plan's lock first (`plans.lock`): the steps of
one plan have one writer at a time, and nothing can deadlock.
"""
