"""`moccasin-mat service`: the table's service on this machine."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_json, confirm, image_folder, print_json
from pi_controller.errors import MatError, UsageError
from pi_controller.host import place as places
from pi_controller.host.place import NAME, Place, make_place
from pi_controller.host.platform import require_linux

if TYPE_CHECKING:
    from pi_controller.card.plan import InstallPlan


def service_install_parser() -> Parser:
    """Return the parser of `service install`."""
    parser = Parser(
        "service install",
        "Install the table's service on this machine: shows all changes first, then asks.",
        "0 done, 1 the service does not run, or the answer was no",
    )
    parser.add_argument("--config-txt", action="store_true", help="also add the lines that the Pi's config.txt needs")
    parser.add_argument(
        "--kiosk",
        action="store_true",
        help="run the installation (exhibit) instead of a table and show its page on this machine's screen",
    )
    _add_image(parser)
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    return parser


def service_install(argv: Sequence[str]) -> int:
    """Install the service; return 0 if everything succeeded, 1 if it does not run."""
    args = service_install_parser().parse_args(argv)
    here = _find_place(args.root, changed=not args.dry_run)
    from pi_controller.card.plan import plan

    return _set_up(plan(here, config_txt=args.config_txt, kiosk=args.kiosk), dry=args.dry_run, yes=args.yes)


def service_remove_parser() -> Parser:
    """Return the parser of `service remove`."""
    parser = Parser(
        "service remove", "Remove what 'service install' has written; the settings stay.", "0 done, 1 the answer was no"
    )
    _add_image(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")
    return parser


def service_remove(argv: Sequence[str]) -> int:
    """Remove the service; return 0."""
    args = service_remove_parser().parse_args(argv)
    return _remove(_find_place(args.root), yes=args.yes)


def service_status_parser() -> Parser:
    """Return the parser of `service status`."""
    parser = Parser(
        "service status",
        "Print the installed files and the state of the service.",
        "0 the service runs, 1 it does not",
    )
    _add_image(parser)
    add_json(parser)
    return parser


def service_status(argv: Sequence[str]) -> int:
    """Print the state; return 0 if the service runs, or in an image is installed, else 1."""
    args = service_status_parser().parse_args(argv)
    here = _find_place(args.root, changed=False)
    from pi_controller.card import service
    from pi_controller.card.plan import plan

    installed = here.on_disk(here.unit).exists()
    made = plan(here) if installed else None
    current = {str(change.path): change not in made.needed for change in made.changes} if made else {}
    watched = installed and here.live and service.is_systemd_running()
    properties = service.properties() if watched else {}
    if args.json:
        print_json({"installed": installed, "current": current, "service": properties})
    elif not installed:
        print("The service is not installed here: 'moccasin-mat service install'.")
    else:
        for path, same in current.items():
            print(f"{'up to date' if same else 'differs from this version'}: {path}")
        print("".join(f"{name}: {value}\n" for name, value in sorted(properties.items()) if value), end="")
    return 0 if installed and (not watched or properties.get("ActiveState") == "active") else 1


def service_save_parser() -> Parser:
    """Return the parser of `service save`."""
    parser = Parser("service save", "Save the settings that the page requests, and restart if needed; for its unit.")
    _add_image(parser)
    return parser


def service_save(argv: Sequence[str]) -> int:
    """Save the requested settings; return 0, or 1 if the machine could not be restarted."""
    return _save_requested(_find_place(service_save_parser().parse_args(argv).root))


def _add_image(parser: Parser) -> None:
    parser.add_argument("--root", metavar="DIR", help="work below DIR, an image; no service is started")


def _find_place(root: str | None, *, changed: bool = True) -> Place:
    """Return this machine or the image `root`. Raises `UsageError` off Linux, or if only root may make the change."""
    require_linux("service")
    here = make_place(image_folder("service", root))
    if here.live and changed and os.geteuid() != 0:
        raise UsageError("a service needs root", "use sudo")
    return here


def _save_requested(here: Place) -> int:
    from pi_controller.card.service import run
    from pi_controller.card.settings_request import RESTART_AFTER_S, accept

    line, restarts = accept(here)
    print(line)
    if restarts and here.live:
        time.sleep(RESTART_AFTER_S)
        if wrong := run(["systemctl", "reboot"]):
            print(f"the machine could not be started again: {wrong}")
            return 1
    return 0


def _set_up(made: InstallPlan, *, dry: bool, yes: bool) -> int:
    from pi_controller.card import install, service
    from pi_controller.card.plan import find_restart_reason, obstacles

    print(f"This is {f'a {made.model}' if made.model else 'not a Raspberry Pi'}.")
    if stopped := obstacles(made):
        if not dry:
            raise UsageError(f"the service could not start: {stopped[0]}", "; ".join(stopped[1:]))
        print("\n".join(f"warning: the service could not start: {one}" for one in stopped))
    commands = service.activation_commands(kiosk=made.kiosk) if made.place.live and service.is_systemd_running() else []
    if commands and (later := find_restart_reason(made)):
        commands = commands[:-1]
        print(f"note: {later}")
    if diff := made.diff():
        print(f"\n{diff}")
    else:
        print("All files are already up to date.")
    for note in made.notes:
        print(f"note: {note}")
    for command in commands:
        print(f"will run: {shlex.join(command)}")
    if dry:
        return 0
    if diff or commands:
        confirm("service", "Do this?", yes=yes)
    for path in install.apply_changes(made.place, made.changes):
        print(f"written: {path}")
    if not commands:
        where = "in an image" if not made.place.live else "here, as systemd does not run this machine"
        print(f"The service is not started {where}; it starts with the machine.")
        return 0
    return _activate(commands, started=not find_restart_reason(made))


def _activate(commands: Sequence[Sequence[str]], *, started: bool) -> int:
    from pi_controller.card import service

    for command in commands:
        if wrong := service.run(command):
            print(f"failed: {shlex.join(command)}: {wrong}")
            print(f"  its log: journalctl --unit {NAME}")
            return 1
    if not started:
        print("The table starts with the machine.")
        return 0
    # restart returned after the table reported that it is ready
    print(f"The table runs; 'systemctl status {NAME}' shows its status.")
    return 0


def _remove(here: Place, *, yes: bool) -> int:
    from pi_controller.card import install, service
    from pi_controller.card.plan import plan

    changes = plan(here).changes
    lines = install.undo_changes(here, changes, dry=True)
    if not lines:
        print("There is nothing to remove.")
        return 0
    print("\n".join(lines))
    on = here.live and service.is_systemd_running()
    for command in service.stop_commands(here) if on else []:
        print(f"will run: {shlex.join(command)}")
    confirm("service", "Remove it?", yes=yes)
    for command in service.stop_commands(here) if on else []:
        if wrong := service.run(command):
            print(f"failed: {shlex.join(command)}: {wrong}")
    install.undo_changes(here, changes)
    for command in service.reload_commands() if on else []:
        if wrong := service.run(command):
            print(f"failed: {shlex.join(command)}: {wrong}")
    print(f"Done. {here.settings} remains, journals and recordings in {here.state}, and the user {NAME}.")
    return 0


def service_update_parser() -> Parser:
    """Return the parser of `service update`."""
    parser = Parser(
        "service update",
        "Install a signed update of this program from a file, or from a folder such as a stick: verify, unpack beside, "
        "switch over, and roll back if the new version does not start.",
        "0 done, 2 refused or rolled back: the earlier version runs",
    )
    parser.add_argument(
        "source", metavar="FILE", nargs="?", help="moccasin_mat-VERSION-....whl with its .sig, or a folder"
    )
    parser.add_argument("--settle", action="store_true", help="undo an interrupted trial; for the machine's start")
    parser.add_argument(
        "--folder", metavar="DIR", type=Path, default=places.PROGRAMS, help="where versions are kept (%(default)s)"
    )
    parser.add_argument(
        "--signers",
        metavar="FILE",
        type=Path,
        default=places.SIGNERS,
        help="who may sign: lines of 'host' and a public key (%(default)s)",
    )
    return parser


def service_update(argv: Sequence[str]) -> int:
    """Install the update; return 0. Raises `UpdateError`."""
    args = service_update_parser().parse_args(argv)
    require_linux("service update")
    from pi_controller import __version__
    from pi_controller.card.service import run
    from pi_controller.extras import requires_extra
    from pi_controller.host.notify import save_last_line

    with requires_extra("update", "update"):
        from pi_controller.card.update import Programs

    programs = Programs(args.folder, __version__)
    if args.settle:
        if done := programs.settle() if programs.folder.is_dir() else "":
            print(done)
            save_last_line(programs.folder, done)
        return 0
    if not args.source:
        raise UsageError("name a file or a folder", "moccasin-mat service update /media/stick")
    restart = ["systemctl", "restart", NAME]
    try:
        done = programs.take(Path(args.source), args.signers, lambda: run(restart))
    except MatError as error:
        save_last_line(programs.folder, error.message)
        raise
    print(done)
    save_last_line(programs.folder, done)
    if (places.SYSTEM_UNITS / places.HUB_UNIT).exists() and (
        wrong := run(["systemctl", "try-restart", places.HUB_UNIT])
    ):
        print(f"the hub still runs the earlier version: {wrong}")
    return 0
