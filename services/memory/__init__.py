"""The reference memory: one process that serves Vendor, Continuity and Memory (DESIGN §4)."""
