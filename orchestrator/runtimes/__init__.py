"""Starts the topology of compose/compose.yaml here, kills its services, removes it (DESIGN §3).

base        what a runtime, a stack and a service promise, whichever runtime they come from
topology    the supported subset of compose, read strictly
plan        one stack's own copy of the topology: tokens, images, clocks, the vendor's memory
docker_*    containers, through the engine's API
process_*   local processes, for machines without an engine
owner       who started something, so that a dead owner's leftovers are told from a living one's
select      which of the two a run takes
"""
