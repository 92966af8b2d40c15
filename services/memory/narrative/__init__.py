"""The narrative part: what a person told over days and weeks, kept and answered without a model.

DESIGN §4 (`Narrative`); ATANT, arXiv 2604.06710.
"""
