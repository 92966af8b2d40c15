"""The contract of memqual; see :mod:`memqual.v1`."""
