"""Carrying out a run: lanes of stacks, batches, what is kept and what is concluded (DESIGN §7)."""
