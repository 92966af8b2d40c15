"""Adversary search: a bounded hunt for sequences of calls that give doubtful content authority.

Issue 3, part 3. A rule-based machine (`machine`) makes up moves (`moves`), a player (`player`)
carries each out on a live memory and keeps a model of what could rightly be authoritative
(`model`), the oracle (`oracle`) compares, and what is found is made as short as it can be
(`shrinking`) and kept as a case that can be played again (`engine`). Nothing here knows how any
memory decides: the oracle rests on DESIGN §4 and on what the memory declares.
"""
