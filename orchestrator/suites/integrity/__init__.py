"""The integrity axis: can untrusted content become authoritative, and does what is legitimate work?

One trial is an ordered list of calls to the memory. The calls are data before they are verdicts:

    variation ─► cases ─► categories/<one module each>     pure: what is said, asked and concluded
                              │ yields Ask, is sent Answer
               trial (live) ──┴── replaying (recorded)      who answers
                    │                   │
                 evidence (lines) ─► score ─► TrialRecord   a function of the lines alone
                    │
                 driver (a Job of a lane)

A category is one module that offers a `Category`: what it needs declared, its checks, its case and
its script. A new one (D, F, H, I, …) is a new module and one entry of `categories.CATEGORIES`.
"""
