"""Deletes a project, if the person approves exactly that; checks that it ran once, or not at all.

    COUNTERSIGN_API_KEY=csk_… python3 delete_project.py --url http://localhost:3000 --iss ISS --sub SUB

ISS and SUB are those of the person who will approve (`countersign users add` prints them). Exits with 0 where it ran, 1
where not.
"""

import argparse
import os
import sys
from typing import Any, Dict

from countersign import Countersign, CountersignError, Grant, Refused, new_consumer_token

PROJECTS = {"p_42": {"name": "Apollo", "items": 318}}


def main() -> int:
    options = read_options()
    key = os.environ.get("COUNTERSIGN_API_KEY", "")
    if not options.url or not key:
        sys.exit("COUNTERSIGN_API_KEY and --url (or COUNTERSIGN_URL) are needed")
    gate = Countersign(options.url, key)
    projects = {project_id: dict(project) for project_id, project in PROJECTS.items()}
    grants = []

    def delete(grant: Grant) -> str:
        grants.append(grant)
        return str(projects.pop(grant.arguments["project_id"])["name"])

    project = projects["p_42"]
    action = {"tool": "delete_project", "arguments": {"project_id": "p_42", "expected_items": project["items"]}}
    caller = {"iss": options.iss, "sub": options.sub, "clientId": "chat-app"}
    presentation = {
        "title": f"Delete project {project['name']}",
        "destination": "CRM",
        "irreversible": True,
        "details": [{"label": "Project", "value": f"{project['name']} (p_42)", "risk": True}],
    }
    try:
        name = gate.run_approved(
            action,
            caller,
            presentation,
            delete,
            show_link=show_link,
            preconditions=lambda: {"items": projects["p_42"]["items"]},
            timeout_seconds=options.timeout,
            ttlSeconds=options.ttl,
        )
    except CountersignError as ending:
        check(grants == [] and "p_42" in projects, "a call that was not granted has run")
        print(f"Nothing ran: {type(ending).__name__}: {ending}")
        return 1
    check(len(grants) == 1 and "p_42" not in projects, "it did not run once")
    check_spent(gate, grants[0], action, caller)
    print(f"Ran once: {name} is deleted ({grants[0].approval_id})")
    return 0


def show_link(minted: Dict[str, Any]) -> None:
    # An MCP server sends `elicitation` to its MCP client instead.
    print(f"{minted['elicitation']['message']}\nOpen: {minted['elicitation']['url']}", flush=True)


def check_spent(gate: Countersign, grant: Grant, action: Dict[str, Any], caller: Dict[str, str]) -> None:
    """The approval is used up: another attempt with the same action is refused, and the outcome is known."""
    try:
        gate.consume(grant.approval_id, action, caller, new_consumer_token(), {"items": 318})
        check(False, "it was granted twice")
    except Refused as refusal:
        check(refusal.code == "already_consumed", f"refused as {refusal.code}")
    now = gate.status(grant.approval_id)
    check((now["next"], now.get("outcome")) == ("done", "succeeded"), "the outcome is not known")


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        sys.exit(f"CHECK FAILED: {otherwise}")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("COUNTERSIGN_URL", ""))
    parser.add_argument("--iss", required=True)
    parser.add_argument("--sub", required=True)
    parser.add_argument("--ttl", type=int, default=300, help="seconds that the person has, 10 to 86400")
    parser.add_argument("--timeout", type=float, help="seconds that this call waits; until it ends without")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
