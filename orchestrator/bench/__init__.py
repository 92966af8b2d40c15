"""`memqual bench`: measures what DESIGN §11 names, and says what was reached on this machine.

    results             what is measured, what was to be reached, as JSON and as a table
    bench               what all benchmarks share: runtime, folders, lanes, stacks
    interposer, memory, stack_start, crash_rate, windows, integrity_rate, orchestrator_memory
                        one benchmark each: a function from a `Bench` to measurements
    command             picks, runs, prints, writes

Time is never asserted: what is not reached is reported, with the machine's load beside it.
"""

from orchestrator.bench.command import run_benchmarks

__all__ = ["run_benchmarks"]
