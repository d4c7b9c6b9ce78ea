"""Checks countersign.py against docs/vectors: `python3 check_vectors.py [FOLDER]`. Exits with 1 where they differ."""

import base64
import hashlib
import json
import pathlib
import sys
from typing import Any, Dict, List

from countersign import InexactValueError, action_digest, canonical_json

Vector = Dict[str, Any]


def check_digest(vector: Vector) -> bool:
    arguments = json.loads(vector["argumentsText"])
    salt, tool = canonical_json(vector["salt"]), canonical_json(vector["tool"])
    text = f'{{"arguments":{canonical_json(arguments)},"salt":{salt},"tool":{tool}}}'
    digest = action_digest(vector["tool"], arguments, vector["salt"])
    return text == vector["canonicalText"] and digest == vector["digest"]


def check_refusal(vector: Vector) -> bool:
    try:
        canonical_json(json.loads(vector["argumentsText"]))
    except InexactValueError as error:
        return vector["seenInValue"] and (error.code, error.pointer) == (vector["code"], vector["pointer"])
    # The parser has lost what was wrong; only the service, which reads the text, can refuse it.
    return not vector["seenInValue"]


def check_challenge(vector: Vector) -> bool:
    claims = dict(vector["claims"])
    claims["sub_id"] = {"format": "iss_sub", **claims.pop("subject")}
    text = canonical_json({"ctx": "countersign/decision/1", **claims})
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
    return text == vector["canonicalText"] and challenge == vector["challenge"]


CHECKS = {
    "action-digests.json": check_digest,
    "refusals.json": check_refusal,
    "decision-challenges.json": check_challenge,
}


def main(folder: pathlib.Path) -> int:
    differing: List[str] = []
    for file, check in CHECKS.items():
        vectors = json.loads((folder / file).read_text("utf-8"))
        differing += [f"{file}: {vector['name']}" for vector in vectors if not check(vector)]
        print(f"{file}: {len(vectors)} checked")
    for name in differing:
        print(f"differs: {name}")
    return 1 if differing else 0


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parents[2] / "docs" / "vectors"
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default))
