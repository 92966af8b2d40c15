"""Windows, faults and the proof that each happened (DESIGN §5).

Used by the orchestrator: `windows` (where), `holding` (what keeps operations there), `plans` and
`injection` (one kill), `late_release`, `faults` and `telemetry_faults` (the others), `receipts`
(proof), `client` and `tracing` (the interposer's control and trace), `clock`, `targets` (what is
attacked), `errors`. `interposer` is a process of its own.
"""
