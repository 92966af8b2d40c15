"""The axes: cells as data, and the drivers that carry them out (DESIGN §2)."""
