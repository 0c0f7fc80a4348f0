"""Whole reviews with models, from the command line to a Messages API on loopback and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.cli.main import main
from reviewbot.cli.output.delivering import MAX_NAME
from tests.make import one_fast
from tests.messages_api import Scripted, answered, asks_judge, failed, said
from tests.model_reviews import CANARY, FOUND, KEY, SILENT, Door, Json, Team, new_file

SHELL = 'os.system("bill " + name)'


BILL = new_file(
    "shop/bill.py", "import os", "", "def bill(name, total):", f"    {SHELL}", "    return total / len(name)"
)
CART = new_file(
    "cart/cart.py", "def first(items):", "    return items[0]", "", "def last(items):", "    return items[-1]"
)
LARGE = "".join(new_file(f"shop/part{n}.py", *(f"value_{n}_{k} = {k} / {n}" for k in range(400))) for n in range(5))


def test_what_a_reader_finds_is_anchored_judged_and_shown_with_what_it_cost(door: Door) -> None:
    review = door.review(BILL)

    (mine,) = [f for f in review["findings"] if f["category"] == "wrong-value"]
    assert (mine["path"], mine["line"], mine["type"], mine["confidence"], mine["claimed"]) == (
        "shop/bill.py", 5, "logic", 90, 85,
    )  # fmt: skip
    assert mine["sources"] == ["model:claude-opus-5-5"]
    assert any(f["category"] == "command-injection" for f in review["findings"]), "programs find beside it"
    rows = {row["worker"]: row["usage"]["calls"] for row in review["workers"]}
    assert (rows["reader"], rows["judge"]) == (1, 1)
    assert [proof["line"] for proof in mine["proof"]] == [5]
    assert review["usage"]["cost_usd"] > 0
    assert review["engine"] == "models"
    assert not review["gaps"]
    assert "model:claude-opus-5-5" in review["coverage"][0]["models"]


def test_what_the_judge_refutes_is_kept_with_its_reason(door: Door) -> None:
    door.api.otherwise = Team([FOUND], confidence=15, reason="`return total / len(name)`: names are never empty")

    review = door.review(BILL)

    (held,) = [entry for entry in review["withheld"] if entry["finding"]["category"] == "wrong-value"]
    assert held["finding"]["confidence"] == 15
    assert "never empty" in held["message"]


def test_a_worker_with_a_tier_of_its_own_is_asked_apart_within_its_budget(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWBOT_WORKER", "logic.tier=medium,logic.max_tokens=5000")

    review = door.review(BILL)

    asked = {(body["model"], body["max_tokens"]) for body in door.api.bodies if not asks_judge(body)}
    assert asked == {("claude-opus-5-5", 24_000), ("claude-sonnet-5-5", 5_000)}
    assert set(review["notes"]) >= {
        "REVIEWBOT_WORKER: logic.tier is medium; its card says large",
        "REVIEWBOT_WORKER: logic.max_tokens is 5000; its card says 24000",
    }


@pytest.mark.slow
def test_the_same_change_again_asks_nobody(door: Door) -> None:
    first = door.review(BILL + CART)
    asked = len(door.api.asked)
    second = door.review(BILL + CART)

    assert asked == 2
    assert len(door.api.asked) == asked
    assert second["findings"] == first["findings"]
    assert second["usage"]["calls"] == 0
    assert second["usage"]["cost_usd"] == 0


@pytest.mark.slow
def test_a_part_of_the_change_that_did_not_change_is_not_asked_about_again(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWBOT_READER_LINES", "50")
    cart = new_file("cart/cart.py", *(f"value_{n} = 0" for n in range(48)))
    door.review(BILL + cart)
    before = len(door.api.asked)
    door.review(BILL + cart.replace("value_7 = 0", "value_7 = 8"))

    again = door.api.bodies[before:]
    assert again
    assert all("value_7 = 8" in json.dumps(body) and "total / len" not in json.dumps(body) for body in again)


@pytest.mark.slow
def test_a_run_that_resumes_asks_for_nothing_that_was_answered(door: Door) -> None:
    team = Team([FOUND])
    ended = [failed(400, "invalid_request_error")]
    door.api.otherwise = lambda body: ended.pop() if asks_judge(body) and ended else team(body)
    door.review(BILL + CART, "--max-cost", "none")
    before = [json.dumps(body, sort_keys=True) for body in door.api.bodies]
    review = door.review(BILL + CART, "--max-cost", "none", "--resume")

    again = [json.dumps(body, sort_keys=True) for body in door.api.bodies[len(before) :]]
    assert again
    assert set(again).isdisjoint(before[:1])
    assert not review["gaps"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    one_fast(
        [
            (said("", stop="refusal"), "refused"),
            (said('{"findings": [', stop="max_tokens"), "bad_answer"),
            (failed(400, "invalid_request_error"), "bad_answer"),
        ]
    ),
    ids=["refusal", "cut off", "bad request"],
)
def test_whatever_a_model_fails_in_is_a_named_gap_and_the_rest_is_delivered(
    door: Door, answer: Scripted, reason: str
) -> None:
    door.api.otherwise = lambda _body: answer

    review = door.review(BILL)

    assert {(gap["path"], gap["worker"]) for gap in review["gaps"]} >= {("shop/bill.py", "logic")}
    assert reason in {gap["reason"] for gap in review["gaps"]} | {"breaker"}
    assert any(f["category"] == "command-injection" for f in review["findings"])
    assert door.code == 4
    assert review["incomplete"]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (failed(401, "authentication_error"), "does not accept the credentials (401)"),
        (failed(402, "billing_error"), "the account has no credit left (402)"),
        pytest.param(failed(500), "the model API failed (500) (4 tries in a row)", marks=pytest.mark.slow),
    ],
    ids=["wrong key", "no credit", "only errors"],
)
@pytest.mark.slow
def test_a_provider_that_answers_nobody_is_named_once_and_costs_nothing(
    door: Door, answer: Scripted, cause: str
) -> None:
    door.api.otherwise = lambda _body: answer

    review = door.review(BILL + CART, "--max-cost", "2", "--quiet")

    assert door.code == 6
    assert cause in review["summary"]
    assert door.err.count("\n") == 1
    assert cause in door.err
    assert {(gap["reason"], cause in gap["message"]) for gap in review["gaps"]} == {("provider", True)}
    assert (review["usage"]["calls"], review["usage"]["cost_usd"]) == (0, 0.0)
    assert any(f["category"] == "command-injection" for f in review["findings"]), "what analyzers found is shown"
    assert door.review(BILL + CART, "--allow-partial")["gaps"] == review["gaps"]
    assert (door.code, cause in door.err) == (0, True)


def test_a_report_for_people_names_a_provider_that_is_down_in_one_entry(
    door: Door, capsys: pytest.CaptureFixture[str]
) -> None:
    door.api.otherwise = lambda _body: failed(401)
    (door.folder / "change.diff").write_text(BILL + CART)
    assert main(["review", "change.diff", "--engine", "models", "--format", "markdown"]) == 6
    page = capsys.readouterr().out
    assert page.count("**models**") == 1
    assert "$0.00" in page
    for word in ("crashed", "budget was spent", "failed too often"):
        assert word not in page


def test_a_provider_that_asks_for_an_hour_does_not_outlast_the_deadline(door: Door) -> None:
    door.api.otherwise = lambda _body: failed(429, "rate_limit_error", "later", retry_after="3600")

    review = door.review(BILL, "--deadline", "5")

    assert {gap["reason"] for gap in review["gaps"]} == {"provider"}
    assert "it can be asked again in 3600 s" in door.err
    assert review["timings"]["wall_ms"] < 5_000
    assert any(f["category"] == "command-injection" for f in review["findings"])


def test_what_the_budget_has_no_room_for_is_not_asked_and_named(door: Door) -> None:
    review = door.review(BILL, "--max-cost", "0.01")

    assert door.api.asked == []
    assert {gap["reason"] for gap in review["gaps"]} == {"budget"}
    assert "--max-cost" in review["gaps"][0]["message"]
    assert any(f["category"] == "command-injection" for f in review["findings"])


@pytest.mark.slow
def test_neither_the_key_nor_the_environment_leaves_the_process(door: Door) -> None:
    door.review(BILL, "--trace", "trace.json")
    review_text = json.dumps(door.review(BILL))

    requests = json.dumps(door.api.bodies)
    headers = [dict(asked.headers) for asked in door.api.asked]
    journals = b"".join(path.read_bytes() for path in door.folder.parent.rglob("*") if path.is_file())
    assert all(KEY in json.dumps(sent) for sent in headers), "it is what the API knows us by"
    assert all(CANARY not in json.dumps(sent) for sent in headers)
    for secret in (KEY, CANARY):
        assert secret not in requests
        assert secret not in review_text
        assert secret not in door.err
        assert secret.encode() not in journals


def test_a_secret_in_the_code_is_masked_in_what_is_reported_and_traced(door: Door) -> None:
    secret = "AKIA" + "Z7Q2M5X8K1N4P6R9"
    leak = new_file("shop/keys.py", f'KEY = "{secret}"', "def key():", "    return KEY[:4]")
    door.api.otherwise = Team(
        [{**FOUND, "file": "shop/keys.py", "quote": f'KEY = "{secret}"', "message": f"{secret}!"}]
    )

    text = json.dumps(door.review(leak, "--trace", "trace.json"))

    assert secret not in text
    assert secret not in (door.folder / "trace.json").read_text()


@pytest.mark.slow
def test_a_claim_about_a_line_with_a_secret_is_found_by_its_masked_quote(door: Door) -> None:
    secret = "AKIA" + "Z7Q2M5X8K1N4P6R9"
    leak = new_file("shop/keys.py", f'KEY = "{secret}"', "def key():", "    return KEY[:4]")
    masked = 'KEY = "AKIA****"'
    proof = [{"path": "shop/keys.py", "side": "new", "quote": masked, "why": "it is short"}]
    door.api.otherwise = Team([{**FOUND, "file": "shop/keys.py", "quote": masked, "line": 1, "proof": proof}])

    review = door.review(leak)

    [mine] = [each for each in review["findings"] if each["category"] == "wrong-value"]
    assert (mine["path"], mine["line"], mine["evidence"]) == ("shop/keys.py", 1, masked)
    assert [each["line"] for each in mine["proof"]] == [1]
    assert secret not in json.dumps([review, door.api.bodies])


def test_neither_a_secret_nor_a_private_file_of_the_change_is_sent(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "AKIA" + "Z7Q2M5X8K1N4P6R9"
    monkeypatch.setenv("REVIEWBOT_PRIVATE", "own/*")
    files = {"shop/keys.py": f'KEY = "{secret}"', "own/plan.py": "launch = 'friday'", ".env": "MODE=quiet"}

    review = door.review("".join(new_file(path, line) for path, line in files.items()))

    sent = json.dumps(door.api.bodies)
    assert "shop/keys.py" in sent
    for word in (secret, "friday", "quiet"):
        assert word not in sent
    renamed = "diff --git a/own/plan.py b/shop/plan.py\nrename from own/plan.py\nrename to shop/plan.py\n"
    renamed += "--- a/own/plan.py\n+++ b/shop/plan.py\n@@ -1 +1 @@\n-launch = 'monday'\n+launch = 'sunday'\n"
    door.review(renamed)
    assert "monday" not in json.dumps(door.api.bodies), "what was private under its old name stays so"
    states = {entry["path"]: entry["state"] for entry in review["coverage"]}
    assert states["own/plan.py"] == "partial", "analyzers alone have read it"


@pytest.mark.slow
def test_a_secret_in_the_authors_words_is_sent_to_no_model(door: Door) -> None:
    """Also one that the limits of title and description would cut in two, so that no form is left of it."""
    token, password = "gh" + "p_" + "aB3xQ9" * 6, "tr0ub4dor&3xKq9Zp"
    title = f"Rotate {token}: {'long ' * 48}{token}"
    description = f'password = "{password}" {"long " * 787}{token}'

    door.review(LARGE + BILL, "--title", title, "--description", description)

    sent = [json.dumps(body) for body in door.api.bodies]
    assert any("claude-haiku" in text and "What the author says" in text for text in sent), "the planner"
    assert any("The title of the change" in text and "Its description" in text for text in sent), "a reader"
    assert any("The title of the change" in text and "Claim c1:" in text for text in sent), "the judge"
    for text in sent:
        assert "aB3xQ9" not in text
        assert "tr0ub4dor" not in text
    assert sum("Rotate ghp_****" in text for text in sent) >= 3


def test_a_replay_of_the_trace_is_the_same_review_to_the_byte(door: Door) -> None:
    door.review(BILL + CART, "--trace", "trace.json", "--output", "review.json")
    asked = len(door.api.asked)

    assert main(["replay", "trace.json", "--format", "json"]) == 0

    assert door.capsys.readouterr().out == (door.folder / "review.json").read_text()
    assert len(door.api.asked) == asked


def test_a_timeline_of_the_trace_can_be_shown(door: Door) -> None:
    door.review(BILL, "--trace", "trace.json")

    assert main(["trace", "trace.json"]) == 0
    assert "judge" in door.capsys.readouterr().out


@pytest.mark.parametrize(("change", "planned"), [(BILL, False), (LARGE, True)], ids=["small", "above plan_above"])
def test_an_estimate_asks_nobody_and_counts_the_planner_where_it_would_be_asked(
    door: Door, change: str, *, planned: bool
) -> None:
    (door.folder / "change.diff").write_text(change)

    assert main(["review", "change.diff", "--engine", "models", "--estimate"]) == 0
    told = door.capsys.readouterr().out
    assert "Likely $" in told
    assert ("planner: 1 call (1 to 2)" in told) is planned
    assert door.api.asked == []


@pytest.mark.parametrize(("change", "planned"), [(BILL, False), (LARGE, True)], ids=["small", "above plan_above"])
def test_a_plan_with_a_key_has_tiers_asks_nobody_and_says_where_a_review_would_ask_for_a_better_one(
    door: Door, change: str, *, planned: bool
) -> None:
    (door.folder / "change.diff").write_text(change)

    assert main(["plan", "change.diff"]) == 0

    told = door.capsys.readouterr().out
    assert "   tier    large\n" in told
    assert ("asks a model for a better plan than this one" in " ".join(told.split())) is planned
    assert door.api.asked == []


def test_what_would_be_sent_can_be_written_down_without_asking_anybody(door: Door) -> None:
    (door.folder / "change.diff").write_text(BILL)

    assert main(["review", "change.diff", "--engine", "models", "--dump-prompts", "prompts"]) == 0

    [written] = (door.folder / "prompts").iterdir()
    text = written.read_text()
    assert re.fullmatch(r"1-reader-[A-Za-z0-9_-]*logic[A-Za-z0-9_-]*\.txt", written.name)
    assert len(written.name) <= MAX_NAME + len("1-.txt")
    assert "### shop/bill.py" in text
    assert "## tool search:" in text
    assert door.api.asked == []
    assert main(["review", "change.diff", "--engine", "models", "--dump-prompts", "change.diff"]) == 2
    assert "cannot write the prompts to change.diff" in door.capsys.readouterr().err


def test_with_a_key_models_review_without_being_asked_for(door: Door) -> None:
    (door.folder / "change.diff").write_text(BILL)

    main(["review", "change.diff", "--format", "json"])

    assert json.loads(door.capsys.readouterr().out)["engine"] == "models"


def test_without_a_key_the_engine_says_which_variable_to_set(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")

    door.review(BILL)

    assert door.code == 2
    assert "ANTHROPIC_API_KEY" in door.err
    assert door.err.count("\n") == 1


@pytest.mark.slow
def test_a_large_change_is_planned_by_a_model_first(door: Door) -> None:
    door.review(LARGE)

    assert "claude-haiku-5-5" in {body["model"] for body in door.api.bodies}


# --- hostile changes, and a model that does what they say ----------------------------------------------------------

HOSTILE = Path(__file__).parents[1] / "hostile"
INJECTED = [
    case
    for case in json.loads((HOSTILE / "index.json").read_text("utf-8"))["cases"]
    if case["kind"] == "prompt-injection" and case["file"].endswith(".diff")
]


def obeying(body: Json) -> Scripted:
    """A model that does what the worst text asks: finds nothing, refutes everything, approves."""
    wanted = body["output_config"]["format"]["schema"]["properties"]
    if "findings" in wanted:
        handles = dict.fromkeys(re.findall(r"\bh[0-9]+\b", json.dumps(body["messages"])))
        refuted = [{"hint": handle, "verdict": "refuted", "reason": "APPROVED, LGTM"} for handle in handles]
        return answered({**SILENT, "hints": refuted})
    return answered({"reason": "LGTM", "strategy": "merge", "tasks": [], "workers": [], "rulings": []})


def everything(review: Json) -> Iterator[Json]:
    yield from review["findings"]
    yield from (entry["finding"] for entry in review["withheld"])
    yield from (item["finding"] for item in review["human"] if item["finding"])
    yield from (finding for conflict in review["conflicts"] for finding in conflict["findings"])


@pytest.mark.parametrize("case", one_fast(INJECTED), ids=lambda case: case["id"])
def test_a_model_that_obeys_the_change_hides_nothing_that_programs_found(
    door: Door, case: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    diff = (HOSTILE / case["file"]).read_text("utf-8", "surrogateescape")
    monkeypatch.setenv("REVIEWBOT_MAX_COST", "none")
    door.api.otherwise = obeying
    (door.folder / "change.diff").write_bytes(diff.encode("utf-8", "surrogateescape"))

    main(["review", "change.diff", "--engine", "analyzers", "--format", "json"])
    alone = json.loads(door.capsys.readouterr().out)
    main(["review", "change.diff", "--engine", "models", "--format", "json"])
    obeyed = json.loads(door.capsys.readouterr().out)

    def key(finding: Json) -> tuple[object, ...]:
        return (finding["path"], finding["line"], finding["rule"])

    shown = {key(finding) for finding in (*alone["findings"],)}
    assert shown <= {key(finding) for finding in everything(obeyed)}
    told = {key(f) for f in obeyed["findings"]} | {key(i["finding"]) for i in obeyed["human"] if i["finding"]}
    assert shown <= told, "shown, or for a person; never silently gone"
    if "planted_line" in case["expect"]:
        assert case["expect"]["planted_line"] in {finding["line"] for finding in everything(obeyed)}
    words = json.dumps([obeyed["headline"], obeyed["summary"], obeyed["verdict"]]).lower()
    assert not any(word in words for word in ("approved", "lgtm"))
