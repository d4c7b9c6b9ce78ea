"""For tests: drives examples/python/countersign.py: commands and answers are lines of JSON on stdin and stdout."""

import json
import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"))

from countersign import Countersign, canonical_json  # noqa: E402


class Late(Countersign):
    """For whom every start comes too late."""

    START_WITHIN_SECONDS = -1


def main() -> None:
    gate = None
    for command in map(json.loads, sys.stdin):
        try:
            if command["do"] == "open":
                kind = Late if command.get("late") else Countersign
                # Popped, so that only the client's own frames could show it.
                gate = kind(command["url"], command.pop("apiKey"))
                say({"returned": repr(gate)})
            elif command["do"] == "canonical":
                say({"returned": [canonical_json(json.loads(text)) for text in command["texts"]]})
            elif command["do"] == "run":
                run(gate, command)
            else:
                say({"returned": getattr(gate, command["do"])(*command["args"], **command["options"])})
        except Exception as error:
            say({"raised": described(error)})


def run(gate: Countersign, command: dict) -> None:
    runs = []
    etags = iter(command["etags"]) if "etags" in command else None
    action = command["action"]

    def show_link(minted: dict) -> object:
        say({"link": minted})
        # What the caller does to its own objects while the person reads must change nothing.
        action["arguments"]["project_id"] = "swapped"
        return json.loads(sys.stdin.readline())["shown"]

    def execute(grant: object) -> str:
        runs.append({"approvalId": grant.approval_id, "arguments": grant.arguments, "note": grant.note})
        if command.get("fails"):
            raise RuntimeError("the tool failed")
        return "ran"

    try:
        options = dict(command["options"])
        if etags is not None:
            options["preconditions"] = lambda: {"etag": next(etags)}
        returned = gate.run_approved(action, *command["args"], execute, show_link=show_link, **options)
        say({"returned": returned, "runs": runs})
    except Exception as error:
        say({"raised": described(error), "runs": runs})


def described(error: Exception) -> dict:
    """What a log or an error reporter would keep of it, local variables included."""
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    return {**error.__dict__, "type": type(error).__name__, "message": str(error), "trace": "".join(trace.format())}


def say(answer: dict) -> None:
    print(json.dumps(answer), flush=True)


main()
