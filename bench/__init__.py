"""What is measured, and against what: `python -m bench` prints one table.

Ratios compare two things measured in turn in the same run, so that they hold on any machine.
"""
