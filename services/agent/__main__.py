"""`python -m services.agent`: an agent host, active or standby (DESIGN §3).

Both are the same process: a standby is a host that nobody asked for anything yet.
"""

from services.common.startup import importing

with importing():
    import structlog

    from services.agent.app import AUDIT_SERVICE, SERVICE, AgentApp, AgentSettings
    from services.common.logging import configure
    from services.common.server import serve
    from services.common.settings import data_dir, env, env_or_none, run

__all__ = ["main"]

NAME = "agent"


def main() -> None:
    """Serves until it is told to stop.

    Raises:
        SettingsError: a variable is missing or malformed.
    """
    configure(NAME)
    app = AgentApp(
        AgentSettings(
            data_dir=data_dir(),
            memory_address=env("MEMQUAL_MEMORY_ADDRESS"),
            destination_address=env("MEMQUAL_DESTINATION_ADDRESS"),
            observer_address=env_or_none("MEMQUAL_OBSERVER_ADDRESS"),
            edge_token=env("MEMQUAL_EDGE_TOKEN", ""),
        )
    )
    structlog.get_logger(__name__).info("host_ready", incarnation=app.incarnation_id)
    serve(
        name=NAME,
        listen=env("MEMQUAL_LISTEN"),
        registrars=app.registrars,
        service_names=(SERVICE,),
        audit_listen=env("MEMQUAL_AUDIT_LISTEN"),
        audit_registrars=app.audit_registrars,
        audit_service_names=(AUDIT_SERVICE,),
        on_stop=app.close,
    )


if __name__ == "__main__":
    run(main)
