"""The destination: a service with tools whose effects are counted (DESIGN §4, §10)."""
