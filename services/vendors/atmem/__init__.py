"""The memory atmem 2.3.10 behind the contract; CAPABILITIES.md has every mapping decision.

Only native.py imports atmem. What decides (names, definitions, decisions, receipts, refusals,
offers, records) is pure and tested without it.
"""
