"""Checks and generators that the Makefile calls; not part of the installed package."""
