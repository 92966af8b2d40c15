"""The services of the testbed: one package, one process, one image each (DESIGN §2)."""
