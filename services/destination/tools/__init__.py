"""The destination's tools: one module for each store that they work on."""
