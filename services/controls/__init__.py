"""Memories that are wrong on purpose: the reference with one flaw each (DESIGN §9).

Each flaw names the one check that must catch it. A run that does not catch its controls says
nothing about a vendor.
"""
