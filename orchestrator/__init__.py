"""Runs a qualification: campaign, cells and trials on a runtime; then oracle, scoring, report."""
