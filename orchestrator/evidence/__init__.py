"""The bundle of a run: what was planned, what was seen, what was concluded (DESIGN §8)."""
