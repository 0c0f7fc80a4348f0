"""Kills a review with models with SIGKILL at random points and resumes it; no recorded answer may be asked for again.

    python -m tests.kill_and_resume_model [--diff FILE] [--points 30] [--seed N] [--thought 3500]

The models are a Messages API on loopback. Its answers follow from the request alone, take a little while, and carry the
request's name, so that the journal tells which questions had their answers when the process was killed. The resumed run
must ask exactly for the others, run no finished task again, and come to the review of an undisturbed run. Two points of
three lie amid the calls, the others anywhere. Prints one line a point and exits with 1 on the first difference. Long:
`make kill`, not part of the gate.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tests.kill_and_resume import HERE, entries, finished, journaled, kill, start, tasks_of
from tests.messages_api import MessagesApi, Scripted, a_claim, a_reading, asks_judge, problems_of, rulings_on, said

Json = dict[str, Any]

OPTIONS = ("--effort", "deep", "--max-cost", "none")
"""Of each run: a reader for each task, and no call is left out for its price."""

DELAY_S = (0.05, 0.15)
"""How long an answer takes: long enough that most kills meet some under way."""

THOUGHT = 3_500
"""Tokens that a turn with a tool call says it has written: models think before they ask. With so many, less than the
usual bound is left for the answer of a logic worker, and a request that leaves less is still the same question."""

MAX_CALLING_TURNS = 2
"""Of one conversation."""

UNREADABLE = ": I cannot say."
"""How an answer ends that is none."""

MAX_SHOWN = 1_000
"""Characters of what differs."""

_MARK = re.compile(r"answer to ([0-9a-f]{64})")


# --- questions and their answers -----------------------------------------------------------------------------------


def question_of(body: Json) -> str:
    """The name of what a request asks, however many tokens it leaves for the answer."""
    asked = {key: value for key, value in body.items() if key != "max_tokens"}
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def marked(body: Json, value: object) -> Scripted:
    """An answer in JSON behind its mark. The words around a block of code are not read."""
    return said(f"answer to {question_of(body)}\n```json\n{json.dumps(value)}\n```")


def recorded(cache: Path) -> set[str]:
    """The questions whose answers are in the journal, by the marks in these."""
    answers = [value for key, value in entries(cache).items() if key.startswith("model/")]
    marks = [_MARK.findall(answer) for answer in answers]
    assert all(len(found) == 1 for found in marks), "each answer carries one mark"
    return {found[0] for found in marks}


def answer_to(body: Json, thought: int) -> Scripted:
    """Models that plan, call tools, find things, fail, escalate and rule, by the request alone."""
    dice = random.Random(question_of(body))
    text = "\n".join(_texts(body["messages"]))
    wanted = body["output_config"]["format"]["schema"]["properties"]
    if asks_judge(body):
        return marked(body, _rule(text, dice))
    if "findings" in wanted:
        return _worked(body, text, dice, thought)
    assert "tasks" in wanted
    return marked(body, _planned(text, dice))


def _texts(messages: list[Json]) -> Iterator[str]:
    for message in messages:
        content = message["content"]
        yield from [content] if isinstance(content, str) else (part["text"] for part in content if "text" in part)


def _worked(body: Json, text: str, dice: random.Random, thought: int) -> Scripted:
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    lines = list(_added(text))
    if lines and body.get("tools") and turns < MAX_CALLING_TURNS and dice.random() < 0.6:
        return replace(_calling(body, lines, dice), usage={"output_tokens": thought})
    if dice.random() < 0.1:
        return said(f"answer to {question_of(body)}{UNREADABLE}")
    escalation = {"reason": "confidence_too_low", "message": "it takes a closer look", "better_worker": None}
    hints = dict.fromkeys(re.findall(r"^(h\d+) \[", text, re.MULTILINE))
    verdicts = ("confirmed", "refuted", "unsure")
    found = [_found(number, path, line, dice) for number, (path, line) in enumerate(lines) if dice.random() < 0.06]
    tasks = re.findall(r"^## Task `(\S+)`", text, re.MULTILINE)
    return marked(body, {
        **a_reading(*found),
        "hints": [{"hint": hint, "verdict": dice.choice(verdicts), "reason": "by the dice"} for hint in hints],
        "tasks": [{"task": name, "escalation": escalation if dice.random() < 0.1 else None} for name in tasks],
    })  # fmt: skip


def _calling(body: Json, lines: list[tuple[str, str]], dice: random.Random) -> Scripted:
    path, line = dice.choice(lines)
    word = dice.choice(re.findall(r"[A-Za-z_]\w*", line))
    values: dict[str, Json] = {
        "read": {"path": path}, "search": {"pattern": word, "literal": True}, "list": {}, "history": {"path": path},
        "definition": {"name": word}, "uses": {"name": word},
    }  # fmt: skip
    tool = dice.choice(body["tools"])
    name = question_of(body)
    given = values[tool["name"]]
    call = {"type": "tool_use", "id": f"toolu_{name[:24]}", "name": tool["name"], "input": given}
    answer = said(f"answer to {name}", stop="tool_use")
    return replace(answer, content=(*answer.content, call))


def _added(text: str) -> Iterator[tuple[str, str]]:
    """Each file and line that a request shows as added, where there is enough in the line to speak of."""
    change = re.search(r"^<<<change \w+\n(.*?)^<<<end", text, re.MULTILINE | re.DOTALL)
    path = ""
    for row in change.group(1).split("\n") if change else ():
        if heading := re.match(r"### (\S+)", row):
            path = heading.group(1)
        elif added := re.match(r" *\d+ \+(.*[A-Za-z_]{4}.*)$", row):
            yield path, added.group(1)


def _found(number: int, path: str, line: str, dice: random.Random) -> Json:
    severity, confidence = dice.choice(("critical", "warning", "info")), dice.randrange(40, 96)
    words = f"This goes wrong ({dice.randrange(100)})."
    return a_claim(path, line, words, id=f"f{number}", severity=severity, confidence=confidence)


def _rule(text: str, dice: random.Random) -> Json:
    answer = rulings_on(text)
    return answer | {"rulings": [{**each, "confidence": dice.randrange(10, 100)} for each in answer["rulings"]]}


def _planned(text: str, dice: random.Random) -> Json:
    """Everybody reads what they read by rules, in one task each; all but the first wait for the first."""
    files: dict[str, list[str]] = {}
    for path, workers in re.findall(r'^"(.+)" .*?; ([a-z, -]+?)(?: \(|;|$)', text, re.MULTILINE):
        for worker in workers.split(", "):
            files.setdefault(worker, []).append(path)
    names = dice.sample(sorted(files), len(files))
    tasks = [
        {
            "task_id": f"{name}-all", "worker": name, "files": files[name], "max_tokens": 8_000,
            "instruction": f"Follow each value that {files[name][0]} hands on to whoever reads it, empty ones first.",
            "success_criterion": "Each value was followed to its readers.",
            "depends_on": [f"{names[0]}-all"] if number else [],
        }
        for number, name in enumerate(names)
    ]  # fmt: skip
    return {"reason": "one task for each worker", "strategy": "merge", "tasks": tasks, "workers": []}


# --- kills ---------------------------------------------------------------------------------------------------------


@dataclass
class Far:
    """The far end of all runs: answers after a while, and knows when it was asked."""

    thought: int = THOUGHT
    moments: list[float] = field(default_factory=list)
    useless: set[str] = field(default_factory=set)
    """Questions whose answer cannot be read. What became of them is in the journal, where they need not be."""

    def __call__(self, body: Json) -> Scripted:
        self.moments.append(time.monotonic())
        name = question_of(body)
        time.sleep(random.Random(name).uniform(*DELAY_S))
        answer = answer_to(body, self.thought)
        if answer.content[-1].get("text", "").endswith(UNREADABLE):
            self.useless.add(name)
        return answer


class Undisturbed(NamedTuple):
    """What every resumed run is held against."""

    review: Json
    asked: Counter[str]
    wall_s: float
    calls_s: float
    """From the first request to the last one."""


@dataclass(frozen=True)
class Bench:
    """What all points share."""

    diff: Path
    api: MessagesApi
    far: Far

    def environ(self, run: str) -> dict[str, str]:
        """The name of a run is its key, so that a request that comes late is still known as its own."""
        return {"ANTHROPIC_BASE_URL": self.api.url, "ANTHROPIC_API_KEY": run}

    def asked(self, run: str) -> Counter[str]:
        """What a run has asked, and how often."""
        mine = [asked.body for asked in list(self.api.asked) if asked.headers["authorization"] == f"Bearer {run}"]
        return Counter(map(question_of, mine))

    def undisturbed(self) -> Undisturbed:
        """Run to the end."""
        with tempfile.TemporaryDirectory() as folder:
            before = time.monotonic()
            review = finished(start(self.diff, Path(folder), *OPTIONS, engine="models", environ=self.environ("whole")))
            wall_s = time.monotonic() - before
        return Undisturbed(review, self.asked("whole"), wall_s, self.far.moments[-1] - self.far.moments[0])

    def point(self, name: str, delay_s: float, wanted: Undisturbed, *, amid: bool) -> str | None:
        """Kill one run and resume it; what is wrong, if anything. `amid`: the delay counts from the first request."""
        with tempfile.TemporaryDirectory() as folder:
            cache, trace = Path(folder), Path(folder) / "trace.json"
            before = len(self.api.asked)
            environ = self.environ(f"{name}-killed")
            process = start(self.diff, cache, *OPTIONS, engine="models", environ=environ)
            if amid:
                self.api.wait_for(before + 1)
            time.sleep(delay_s)
            kill(process)
            known, done = recorded(cache), journaled(cache)
            more = (*OPTIONS, "--resume", "--trace", str(trace))
            review = finished(start(self.diff, cache, *more, engine="models", environ=self.environ(f"{name}-resumed")))
            started, resumed = tasks_of(trace, "task_started"), tasks_of(trace, "resumed")
        first, then = self.asked(f"{name}-killed"), self.asked(f"{name}-resumed")
        print(
            f"{name}: killed {delay_s:5.2f} s after {'the first request' if amid else 'the start':17}: "
            f"{first.total():2} asked, {len(known):2} answers recorded, {len(done):2} outcomes; "
            f"resumed: {then.total():2} asked, {len(resumed):2} outcomes taken over",
            flush=True,
        )
        if started & done or resumed != done:
            return f"finished tasks and those that were taken over differ: {sorted(resumed ^ done)[:3]}"
        if review != wanted.review:
            return "\n".join(["the resumed review is not the same", *_differing(review, wanted.review)])
        return self._wrong(wanted.asked, first, known, then)

    def _wrong(self, whole: Counter[str], first: Counter[str], known: set[str], then: Counter[str]) -> str | None:
        """What is wrong with the questions of a killed and a resumed run."""
        missing = whole.keys() - known
        if again := known & then.keys():
            return f"{len(again)} recorded answers were asked for again"
        if not known <= first.keys() <= whole.keys() or not then.keys() <= missing:
            return "a run that is stopped, or one that goes on, asks what an undisturbed one does not"
        if not missing - then.keys() <= self.far.useless:
            return "the resumed run did not ask for everything that was missing"
        return None if then.total() == len(then) else "the resumed run asked twice for the same"


def _differing(one: Json, other: Json) -> Iterator[str]:
    for key in sorted(one.keys() | other.keys()):
        if one.get(key) != other.get(key):
            yield f"{key}: {json.dumps(one.get(key))[:MAX_SHOWN]}\n  not {json.dumps(other.get(key))[:MAX_SHOWN]}"


def main() -> int:
    """Run once undisturbed, then once per point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diff", type=Path, default=HERE.parent / "examples/orders/change.diff")
    parser.add_argument("--points", type=int, default=30)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--thought", type=int, default=THOUGHT)
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.randrange(10**6)
    rng = random.Random(seed)
    list(problems_of({}))  # what judges requests takes seconds to load, and is no part of a run
    far = Far(arguments.thought)
    with MessagesApi(far) as api:
        bench = Bench(arguments.diff, api, far)
        wanted = bench.undisturbed()
        found = wanted.review["findings"]
        print(
            f"undisturbed: {wanted.wall_s:.2f} s, {wanted.asked.total()} requests within {wanted.calls_s:.2f} s, "
            f"{len(found)} findings, {len(wanted.review['withheld'])} withheld, {len(wanted.review['gaps'])} gaps; "
            f"seed {seed}"
        )
        for number in range(1, arguments.points + 1):
            amid = number % 3 > 0
            delay_s = rng.uniform(0, wanted.calls_s) if amid else rng.uniform(0.05, wanted.wall_s)
            if wrong := bench.point(f"point-{number:02}", delay_s, wanted, amid=amid):
                print(wrong)
                return 1
        api.check()
    print(f"{arguments.points} points: the same review each time, and no recorded answer was asked for again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
