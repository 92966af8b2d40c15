"""Every bound of the interposer, in one place; `interposer.proto` names what callers see."""

MEBIBYTE = 1024 * 1024

# One message, either way; longer ones end in RESOURCE_EXHAUSTED.
MESSAGE_BYTES_MAX = 4 * MEBIBYTE
# Calls that are open at once, over all listeners, and the bytes of their messages.
CALLS_MAX = 8_192
IN_FLIGHT_BYTES_MAX = 256 * MEBIBYTE
# Trace: whichever comes first gives up the oldest records.
TRACE_RECORDS_MAX = 200_000
TRACE_BYTES_MAX = 256 * MEBIBYTE
# A record's size without payload and metadata, as the bound counts it.
TRACE_RECORD_BYTES = 512
TRACE_PAYLOAD_BYTES_MAX = MEBIBYTE
MARK_BYTES_MAX = 65_536
# A reader that follows the trace looks for new records this often.
FOLLOW_INTERVAL_SECONDS = 0.02

RULES_MAX = 1_000
RULE_ID_BYTES_MAX = 128
MATCHES_MAX = 16
MATCH_VALUES_MAX = 1_000
DELAY_MS_MAX = 600_000
# Workflows that one rule can count hits of; further ones are not matched.
COUNTED_WORKFLOWS_MAX = 100_000
WAIT_MS_MAX = 60_000
NAMES_MAX = 64

# Time that a call upstream has when its client set no deadline or is gone.
UPSTREAM_SECONDS = 60.0
# Ends of a dead service that stay closed this long have been read to their end.
EOF_QUIET_SECONDS = 0.01
# A stream whose client set no deadline ends after this.
STREAM_SECONDS_MAX = 3_600.0
# After this a lost message's client is told UNAVAILABLE, if it set no deadline of its own.
LOST_SECONDS = 60.0
# A message that nobody released or thawed by then is dropped.
HOLD_SECONDS_MAX = 3_600.0

RESOLVE_AGAIN_MS = 500
HEALTH_CHECK_SECONDS = 1.0
REFRESH_WAIT_MIN_SECONDS = 0.01
REFRESH_WAIT_MAX_SECONDS = 0.1
# How long a listener's name may take to resolve: an engine attaches networks after the start.
BIND_SECONDS = 10.0
BIND_WAIT_SECONDS = 0.2
STOP_GRACE_SECONDS = 1.0
