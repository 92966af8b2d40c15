"""Exploration: seeded random schedules of faults, judged by the axis's own oracle (issue 4).

A schedule is data: small steps of many workflows ("lanes") side by side, and faults that meet all
of them. What breaks a rule is cut down to the fewest steps that still show it, and kept as a case.
"""
