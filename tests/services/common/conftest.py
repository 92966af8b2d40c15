"""Property tests have no deadline: a busy machine must not make a slow example a failure."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
