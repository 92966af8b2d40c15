"""The proxy that every message of the testbed passes (DESIGN §3, §5; interposer.proto).

A process of its own, started as ``python -m chaos.interposer``. It knows no vendor's stubs: what
comes in as bytes goes out as bytes. Reading order: `config` (where it listens), `server` (what is
bound), `proxy` (the path of one unary call), `rules`, `holds` and `freeze` (what can stop a message
on that path), `upstream` (channels to the targets), `trace` (what is kept), `control` (the RPCs).
"""
