"""Windows, faults and the proof that each happened (DESIGN §5)."""
