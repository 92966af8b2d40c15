"""What raw evidence amounts to: pure functions from files to verdicts (DESIGN §6, §7)."""
