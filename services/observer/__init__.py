"""The observer: takes allow-listed telemetry that nothing depends on (DESIGN §4)."""
