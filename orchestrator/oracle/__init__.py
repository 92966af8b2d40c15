"""Which decisions a correct memory may take, given what it can have seen (DESIGN §6).

    trace records ──► view (calls and clocks) ──► linearize (possible worlds) ──► judge (classes)

The oracle never reads the destination's journal: the journal judges effects, the view judges
decisions.
"""
