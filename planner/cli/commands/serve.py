"""``hfl-plan serve``: the address, and what another than the usual one means. The page is `planner.serve`."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from planner.cli.output import told


def serve(
    config: Annotated[Path | None, Option("--config", "-c", help="scenario in TOML that the page opens with")] = None,
    port: Annotated[int, Option(help="port; 0 for any that is free", min=0, max=65535)] = 8765,
    address: Annotated[
        str | None,
        Option(
            "--expose",
            metavar="ADDRESS",
            help="address to listen on, in place of this machine alone; every machine that reaches it can use the page",
        ),
    ] = None,
    browse: Annotated[bool, Option("--open", help="open the page in a browser")] = False,
) -> None:
    """Open a local page: move sliders, watch the best change.

    Examples:
        hfl-plan serve --config examples/phones.toml
    """
    from planner.errors import ScenarioError
    from planner.serve import scenario
    from planner.serve.app import LOOPBACK, application, run

    host = address or "127.0.0.1"
    if host in ("0.0.0.0", "::"):  # noqa: S104 - refused: the Host header could not be checked
        raise ScenarioError(f"--expose: {host} is every address of this machine. Name one, such as 192.168.1.5.")
    opened = "" if config is None else scenario.in_address(scenario.from_file(config))
    made = application((*LOOPBACK, host, f"[{host}]") if address else LOOPBACK)
    with _listening(host, port) as listening:
        at = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/{opened}"
        typer.echo(at)
        who = f"anyone who reaches {host} can use this page" if address else "only this machine can open the page"
        told(f"{who}. Stop it with Ctrl-C.")
        if browse:
            import webbrowser

            if not webbrowser.open(at):
                told(f"no browser was found. Open {at} yourself.")
        run(made, listening)


def _listening(host: str, port: int) -> socket.socket:
    from planner.errors import NoAnswerError

    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(64)
    except (OSError, UnicodeError) as error:
        found.close()
        reason = getattr(error, "strerror", None) or "no such address"
        raise NoAnswerError(
            f"--port: {host:.60}:{port} cannot be listened on ({reason}). Give another, or --port 0 for any."
        ) from None
    return found
