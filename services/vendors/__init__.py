"""Adapters to real memories: native calls only, no invented semantics (DESIGN §2)."""
