"""Countersign for MCP servers in Python: ask a person, wait for the decision, run once.

One file, standard library only, Python 3.9 or newer. Copy it next to your server.

    gate = Countersign("https://countersign.example.com", api_key)
    gate.run_approved(action, caller, presentation, run=delete, show_link=send_elicitation)

What it relies on. Only a granted `consume` is the right to run, and that is the service's answer over TLS: before it
grants, the service verifies the stored receipt. This client computes the digest of the action itself and refuses an
approval that names another one. It does NOT verify the signature of receipts: that is Ed25519, which the standard
library lacks. For proof that does not rest on the connection keep `Grant.receipt` and check it with `npx countersign
verify-receipt`, or with a library that verifies JWS.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import hmac
import http.client
import json
import logging
import math
import re
import secrets
import socket
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TypedDict, TypeVar, Union

T = TypeVar("T")
Answer = Dict[str, Any]
log = logging.getLogger("countersign")
_ANSWER_BYTES_MAX = 1 << 20


class Action(TypedDict):
    """What is to be done; the arguments exactly as the handler will receive them."""

    tool: str
    arguments: Dict[str, Any]


class Caller(TypedDict, total=False):
    """Whose request runs, from the verified access token: `iss` and `sub`, both required, and `clientId`."""

    iss: str
    sub: str
    clientId: str


@dataclass(frozen=True)
class Grant:
    """The right to run once. `approval_id` is the idempotency key for what is called; `note` are the person's words."""

    approval_id: str
    arguments: Dict[str, Any]
    receipt: str
    note: Optional[str]


class CountersignError(Exception):
    """Nothing ran. No message, attribute or repr of these errors holds the API key, a token or an argument's value."""

    approval_id: Optional[str] = None

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.__dict__.update(facts)


class Declined(CountersignError):
    """The person said no: do not ask again. `reason` is `not_requested` where they say they did not ask for this."""

    note: Optional[str] = None
    reason: Optional[str] = None


class Cancelled(CountersignError):
    """Closed without deciding: a draft may be kept, the person may be asked again."""

    note: Optional[str] = None


class Expired(CountersignError):
    """Nobody decided in time."""


class Withdrawn(CountersignError):
    """Taken back; `reason`: `taken_back` (by the person), `client_declined`, `aborted`, `superseded`, `frozen`, …"""

    reason: Optional[str] = None


class Lapsed(CountersignError):
    """Accepted, but act-by has passed. It can be asked again."""


class AlreadyRun(CountersignError):
    """Another attempt has the right to run. `outcome` is None while that one has not reported."""

    outcome: Optional[str] = None
    consumed_at: Optional[str] = None


class StillPending(CountersignError):
    """`timeout_seconds` passed first. The same call made again finds this approval, decided meanwhile or not."""


class NotStarted(CountersignError):
    """Granted too late to start at once; reported as failed. It can be asked again."""


class Unreachable(CountersignError):
    """No usable answer. `status` is the HTTP status, 0 without one."""

    status: int = 0


class Unverifiable(CountersignError):
    """An answer that is not of the contract's form, or about another action, caller or approval."""


class Refused(CountersignError):
    """The service refused; `code` is of the list in docs/api.md, `data` holds the problem's further members."""

    code: str = ""
    status: int = 0
    pointer: Optional[str] = None
    retry_after_seconds: Optional[int] = None
    data: Answer = {}


class InexactValueError(CountersignError, ValueError):
    """JSON would alter the value at `pointer` (RFC 6901). `code` is the service's; `not_json`: JSON cannot hold it."""

    code: str = ""
    pointer: str = ""


class BadWebhook(CountersignError):
    """Nothing of it may be used. `code` as in docs/webhooks-receiving.md; a bad secret is a ValueError."""

    code: str = ""


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: int = 300,
    now: Callable[[], float] = time.time,
) -> Answer:
    """The event in a webhook (Standard Webhooks 1.0), with its `id`; a wake-up, and no right to run anything.

    `body` are the raw bytes, at most 65536; `secret` is `whsec_…`, several while one takes the place of another. Answer
    2xx, then read the approval with `status` and run only what you asked for and kept. Raises BadWebhook or ValueError.
    """
    keys = [_webhook_key(one) for one in ([secret] if isinstance(secret, str) else secret)]
    given: Dict[str, List[str]] = {"webhook-id": [], "webhook-timestamp": [], "webhook-signature": []}
    for name, value in headers.items():
        given.get(name.lower(), []).append(value)
    ids, timestamps, signatures = given.values()
    if len(ids) != 1 or len(timestamps) != 1 or not any(signatures):
        raise _bad("missing_header")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,255}", ids[0]):
        raise _bad("missing_header")
    if not re.fullmatch(r"0|[1-9][0-9]{0,11}", timestamps[0]):
        raise _bad("bad_timestamp")
    if len(body) > 65536:
        raise _bad("malformed_body")
    signed = f"{ids[0]}.{timestamps[0]}.".encode("ascii") + body
    expected = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    candidates = " ".join(signatures).encode("utf-8", "replace").split(b" ")
    if not sum(hmac.compare_digest(one, other) for one in expected for other in candidates):
        raise _bad("bad_signature")
    if abs(math.floor(now()) - int(timestamps[0])) > tolerance_seconds:
        raise _bad("stale_timestamp")
    try:
        event = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _bad("malformed_body") from None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str) or not isinstance(event.get("data"), dict):
        raise _bad("malformed_body")
    return {**event, "id": ids[0]}


def _webhook_key(secret: str) -> bytes:
    key = base64.b64decode(secret[6:], validate=True) if secret.startswith("whsec_") else b""
    if not 24 <= len(key) <= 64:
        raise ValueError("a webhook secret is whsec_ and the base64 of 24 to 64 bytes")
    return key


def _bad(code: str) -> BadWebhook:
    return BadWebhook(f"the webhook is not taken: {code}", code=code)


def action_digest(tool: str, arguments: Mapping[str, Any], salt: str) -> str:
    """`sha256:` and the hex SHA-256 of the RFC 8785 text of `{ tool, arguments, salt }`. Raises InexactValueError."""
    members = {"arguments": canonical_json(arguments), "salt": canonical_json(salt), "tool": canonical_json(tool)}
    text = "{" + ",".join(f'"{name}":{member}' for name, member in members.items()) + "}"
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def canonical_json(value: Any, max_depth: int = 32) -> str:
    """RFC 8785 text of a value made of dict, list, str, int, float, bool and None. Raises InexactValueError."""
    return _write(value, "", max_depth)


def _write(value: Any, pointer: str, room: int) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _string(value, pointer)
    if isinstance(value, (int, float)):
        return _number(value, pointer)
    if not isinstance(value, (dict, list)):
        raise _inexact("not_json", pointer)
    if room == 0:
        raise _inexact("too_deep", pointer)
    if isinstance(value, list):
        return "[" + ",".join(_write(item, f"{pointer}/{index}", room - 1) for index, item in enumerate(value)) + "]"
    members = []
    for name, item in value.items():
        if not isinstance(name, str):
            raise _inexact("not_json", pointer)
        text = _string(name, pointer)
        place = pointer + "/" + name.replace("~", "~0").replace("/", "~1")
        if name == "__proto__":
            raise _inexact("forbidden_key", place)
        # RFC 8785 section 3.2.3 orders by UTF-16 code units, which Python's own order of strings is not.
        members.append((name.encode("utf-16-be"), f"{text}:{_write(item, place, room - 1)}"))
    return "{" + ",".join(member for _, member in sorted(members)) + "}"


def _string(value: str, pointer: str) -> str:
    if "\0" in value:
        raise _inexact("nul_character", pointer)
    if re.search("[\ud800-\udfff]", value):
        raise _inexact("lone_surrogate", pointer)
    return json.dumps(value, ensure_ascii=False)


def _number(value: float, pointer: str) -> str:
    """As ECMAScript's Number::toString writes it. Its form `1e+21` cannot occur: those are integers beyond 2^53-1."""
    if isinstance(value, float) and (not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0)):
        raise _inexact("number_not_exact", pointer)
    if isinstance(value, int) or value.is_integer():
        if abs(value) > 2**53 - 1:
            raise _inexact("number_not_exact", pointer)
        return int.__repr__(int(value))
    # repr has the shortest digits that read back as the same double, as ECMAScript asks; only the point is elsewhere.
    sign, digits, power = Decimal(float.__repr__(value)).as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(power)
    if point > 0:
        text = f"{text[:point]}.{text[point:]}"
    elif point > -6:
        text = "0." + "0" * -point + text
    else:
        text = f"{text[0]}{'.' if len(text) > 1 else ''}{text[1:]}e{point - 1}"
    return ("-" if sign else "") + text


def _inexact(code: str, pointer: str) -> InexactValueError:
    # Names in the pointer are the caller's own: an attribute, not part of the message that is logged.
    return InexactValueError(f"a value cannot be kept exactly: {code}", code=code, pointer=pointer)


class _Secret(str):
    """Text that debuggers and error reporters, which print local variables by repr, do not see."""

    def __repr__(self) -> str:
        return "<secret>"


def new_consumer_token() -> str:
    """256 random bits for one attempt to run. Keep it in memory; whoever loses it never runs."""
    return _Secret(secrets.token_urlsafe(32))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """The API key must not travel on: a redirect is an answer like any other that is of no use."""


class Countersign:
    """The machine API (docs/api.md). Blocking; may be shared between threads; from asyncio call `asyncio.to_thread`.

    `url` is an https origin, or http on loopback; `api_key` is `csk_…` with all three scopes; `tls` replaces the
    default TLS context, for a CA of your own. Time-outs hold for each wait on the socket. Every method raises Refused,
    Unreachable or Unverifiable; redirects are not followed.
    """

    #: A run must begin this soon after the right to it was asked for, by a monotonic clock.
    START_WITHIN_SECONDS = 10.0

    def __init__(self, url: str, api_key: str, *, tls: Optional[ssl.SSLContext] = None) -> None:
        self.url, self._key = url.rstrip("/"), _Secret(api_key)
        api_key = self._key
        if not re.fullmatch(r"https://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?/?", url) and not re.fullmatch(
            r"http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?/?", url
        ):
            raise ValueError("url must be an origin: https, or http on loopback, without user name, path or query")
        if not re.fullmatch(r"csk_[\x21-\x7e]+", api_key):
            raise ValueError("api_key is not an API key of Countersign (csk_…)")
        handlers = [_NoRedirect(), urllib.request.HTTPSHandler(context=tls or ssl.create_default_context())]
        if url.startswith("http:"):
            # A proxy from the environment would read the key, which nothing encrypts on loopback.
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def __repr__(self) -> str:
        return f"Countersign({self.url!r})"

    def mint(
        self,
        action: Action,
        caller: Caller,
        presentation: Answer,
        *,
        idempotency_key: Optional[str] = None,
        **terms: Any,
    ) -> Answer:
        """Asks for a decision; repeats carry one Idempotency-Key. Raises InexactValueError too.

        `terms` are further members of the body, named as in the API: `requirements`, `ttlSeconds`, `actBySeconds`,
        `preconditions`, `reuse`, `mcpClient`, `metadata`.
        """
        canonical_json(action["arguments"])
        body = {"action": action, "caller": caller, "presentation": presentation, **terms}
        headers = {"Idempotency-Key": idempotency_key or secrets.token_urlsafe(24)}
        answer = self._call("POST", "", body, attempts=3, headers=headers)
        minted = _of_form(answer, {"id": str, "next": str, "url": str, "actionDigest": str, "elicitation": dict})
        approval_id, salt = _id(minted["id"]), minted.get("salt")
        if salt is None or minted["actionDigest"] != action_digest(action["tool"], action["arguments"], salt):
            self._try(self.withdraw, approval_id, "aborted")
            raise Unverifiable("the approval names another action", approval_id=approval_id)
        return minted

    def status(self, approval_id: str, wait_seconds: int = 0) -> Answer:
        """Where it stands, at once or when decided within `wait_seconds` (0…55). `next`: wait, run, stop or done."""
        path = f"/{_id(approval_id)}" + (f"?wait={wait_seconds}" if wait_seconds else "")
        answer = _of_form(self._call("GET", path, attempts=2, timeout=wait_seconds + 10), {"status": str, "next": str})
        if answer.get("id") != approval_id:
            raise Unverifiable("the answer is about another approval", approval_id=approval_id)
        return answer

    def wait(self, approval_id: str, timeout_seconds: Optional[float] = None) -> Answer:
        """Waits until decided or over, in legs of 20 s, or until the time-out: then `next` may still be `wait`."""
        until = math.inf if timeout_seconds is None else time.monotonic() + timeout_seconds
        failures = 0
        while True:
            started, pause = time.monotonic(), 0.5
            try:
                answer = self.status(approval_id, max(0, math.ceil(min(20.0, until - started))))
                failures = 0
                if answer["next"] != "wait" or time.monotonic() >= until:
                    return answer
            except (Unreachable, Refused) as error:
                failures, pause = failures + 1, 2.0
                is_passing = isinstance(error, Unreachable) or error.code == "too_many_waits"
                if not is_passing or failures > 4 or time.monotonic() >= until:
                    raise
            # A service that shuts down answers `pending` at once; it must not be asked in a tight loop.
            if time.monotonic() - started < pause:
                time.sleep(pause)

    def consume(
        self,
        approval_id: str,
        action: Action,
        caller: Caller,
        consumer_token: str,
        preconditions: Optional[Answer] = None,
    ) -> Answer:
        """Takes the right to run, once. Repeats carry the same token; never make another because an answer was lost."""
        body = {"action": action, "caller": caller, "consumerToken": consumer_token}
        if preconditions is not None:
            body["preconditions"] = preconditions
        # Three attempts fit into the time within which a run must start.
        answer = self._call("POST", f"/{_id(approval_id)}/consume", body, attempts=3, timeout=3)
        if answer.get("granted") is not True:
            raise Unverifiable("neither granted nor refused", approval_id=approval_id)
        return _of_form(answer, {"receipt": str})

    def report_outcome(self, approval_id: str, consumer_token: str, outcome: str, code: Optional[str] = None) -> None:
        """Says what happened: `succeeded`, `failed` or `unknown`; `code` (64 of A-Z a-z 0-9 _ . / -) is for the log."""
        body = {"consumerToken": consumer_token, "outcome": outcome, **({} if code is None else {"code": code})}
        self._call("POST", f"/{_id(approval_id)}/outcome", body, attempts=2, timeout=4)

    def withdraw(self, approval_id: str, reason: str = "aborted") -> None:
        """Takes the request back before it has run; `reason` is `client_declined`, `aborted` or `superseded`."""
        self._call("POST", f"/{_id(approval_id)}/withdraw", {"reason": reason}, attempts=2)

    def run_approved(
        self,
        action: Action,
        caller: Caller,
        presentation: Answer,
        run: Callable[[Grant], T],
        *,
        show_link: Callable[[Answer], Optional[bool]],
        preconditions: Optional[Callable[[], Answer]] = None,
        timeout_seconds: Optional[float] = None,
        **terms: Any,
    ) -> T:
        """Asks the person, waits, and runs at most once; returns what `run` returns, raises what it raises.

        `show_link` gets the mint answer and brings its `elicitation` (`message`, `url`) to the user; False says that
        the MCP client declined, which withdraws. `preconditions` is read before asking and again before running; if it
        differs: Refused, code `stale`. Every other end is one of the exceptions above: then this call has run nothing,
        and will not. What `run` raises is reported as failed; `terms` are those of `mint`.
        """
        # What was digested is what runs, whatever happens to the caller's objects meanwhile.
        action, caller = copy.deepcopy(action), copy.copy(caller)
        if preconditions is not None:
            terms["preconditions"] = preconditions()
        minted = self.mint(action, caller, presentation, **{"reuse": "live", **terms})
        approval_id = minted["id"]
        if minted["next"] == "wait" and show_link(minted) is False:
            self._try(self.withdraw, approval_id, "client_declined")
            raise Withdrawn("withdrawn: client_declined", approval_id=approval_id, reason="client_declined")
        answer = self.wait(approval_id, timeout_seconds)
        if answer["next"] != "run":
            raise _ending(answer)
        if answer.get("caller") != caller:
            raise Unverifiable("the approval is another caller's", approval_id=approval_id)
        current = None if preconditions is None else preconditions()
        token, asked_at = new_consumer_token(), time.monotonic()
        granted = self._consume_or_end(approval_id, action, caller, token, current)
        if time.monotonic() - asked_at > self.START_WITHIN_SECONDS:
            self._try(self.report_outcome, approval_id, token, "failed", "not_started")
            raise NotStarted("granted too late to start", approval_id=approval_id)
        try:
            result = run(Grant(approval_id, action["arguments"], granted["receipt"], answer.get("note")))
        except BaseException as error:
            # An interruption (Ctrl-C, exit) says nothing about how far it came.
            self._try(self.report_outcome, approval_id, token, "failed" if isinstance(error, Exception) else "unknown")
            raise
        self._try(self.report_outcome, approval_id, token, "succeeded")
        return result

    def _consume_or_end(self, approval_id: str, *attempt: Any) -> Answer:
        try:
            return self.consume(approval_id, *attempt)
        except Refused as error:
            code, data = error.code, error.data
            if code not in ("already_consumed", "lapsed", "not_accepted"):
                error.approval_id = approval_id
                raise
        if code == "not_accepted":
            # It changed between the answer and the grant, e.g. it was taken back: say how it stands now.
            raise _ending(self.status(approval_id))
        following = "done" if code == "already_consumed" else "stop"
        raise _ending({**data, "id": approval_id, "status": "accepted", "next": following})

    def _try(self, call: Callable[..., None], approval_id: str, *rest: str) -> None:
        """For calls whose loss changes nothing here: a lost report is `unknown` to the auditor, no reason to rerun."""
        try:
            call(approval_id, *rest)
        except CountersignError as error:
            log.warning("%s of %s did not arrive: %s", call.__name__, approval_id, error)

    def _call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        attempts: int,
        timeout: float = 10,
        headers: Mapping[str, str] = {},
    ) -> Answer:
        # Arguments may nest 32 deep and lie two deep in the body.
        data = None if body is None else _Body(canonical_json(body, 34).encode("utf-8"))
        for pause in (0.15, 0.6, None)[3 - attempts :]:
            try:
                return self._send(method, path, data, timeout, headers)
            except Unreachable as error:
                if pause is None or not (error.status < 300 or error.status in (502, 503, 504)):
                    raise
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _send(
        self, method: str, path: str, data: Optional[bytes], timeout: float, headers: Mapping[str, str]
    ) -> Answer:
        request = urllib.request.Request(f"{self.url}/api/v1/approvals{path}", data=data, method=method)
        for name, value in {"Accept": "application/json", "User-Agent": "countersign-python", **headers}.items():
            request.add_header(name, value)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        request.add_unredirected_header("Authorization", "Bearer " + self._key)
        fault = ""
        try:
            try:
                response = self._opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as error:
                response = error
            with response:
                status, retry_after = response.status, response.headers.get("Retry-After", "")
                raw = response.read(_ANSWER_BYTES_MAX)
        except (OSError, http.client.HTTPException) as error:
            is_late = isinstance(getattr(error, "reason", error), socket.timeout)
            fault = "no answer in time" if is_late else "no connection"
        if fault:
            # Raised out here, so that it does not carry the library's frames, in which the key is.
            raise Unreachable(fault)
        return _answer_of(status, retry_after, raw)


class _Body(bytes):
    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


def _answer_of(status: int, retry_after: str, raw: bytes) -> Answer:
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict) and 200 <= status < 300:
        return answer
    code = answer.get("code") if isinstance(answer, dict) and 400 <= status < 500 else None
    if not isinstance(code, str):
        raise Unreachable(f"no usable answer, status {status}", status=status)
    errors = answer.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    raise Refused(
        f"refused: {code}",
        code=code,
        status=status,
        pointer=first.get("pointer") if isinstance(first, dict) else None,
        retry_after_seconds=int(retry_after) if re.fullmatch("[0-9]{1,9}", retry_after) else None,
        data=answer,
    )


def _of_form(answer: Answer, form: Mapping[str, type]) -> Answer:
    for name, kind in form.items():
        if not isinstance(answer.get(name), kind):
            raise Unverifiable(f"the answer lacks {name}")
    return answer


def _id(text: str) -> str:
    if not re.fullmatch("apr_[0-9a-hjkmnp-tv-z]{26}", text):
        raise ValueError("not an approval id")
    return text


def _ending(answer: Answer) -> CountersignError:
    """What an approval that was not granted to this attempt has come to."""
    approval_id, status, reason, note = answer["id"], answer["status"], answer.get("reason"), answer.get("note")
    if status == "pending":
        return StillPending("still pending", approval_id=approval_id)
    if status == "declined":
        return Declined("declined", approval_id=approval_id, reason=reason, note=note)
    if status == "cancelled":
        return Cancelled("cancelled", approval_id=approval_id, note=note)
    if status == "expired":
        return Expired("expired", approval_id=approval_id)
    if status == "withdrawn":
        return Withdrawn(f"withdrawn: {reason}", approval_id=approval_id, reason=reason)
    if answer["next"] == "done":
        facts = {"outcome": answer.get("outcome"), "consumed_at": answer.get("consumedAt")}
        return AlreadyRun("another attempt has the right to run", approval_id=approval_id, **facts)
    if answer["next"] == "stop":
        return Lapsed("lapsed", approval_id=approval_id)
    return Unverifiable("neither granted nor over", approval_id=approval_id)
