"""Everything at once for minutes, with or without kills; then look whether anything was lost.

`python -m bench.soak --minutes 5 --engine sqlite --kill`: agents' mixed calls, a web process, board
sockets, people's edits by REST and admin. `--kill` ends agents, the web process and a PostgreSQL
cluster of its own by SIGKILL at random.
"""
