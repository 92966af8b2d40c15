"""What services share: canonical hashing, journal, server bootstrap and clock (DESIGN §2)."""
