#!/usr/bin/env python3
"""Thirty pull requests with 150 pushes: repeated comments, threads left open, and what each push costs in tokens.

    python -m benchmarks.pushes [--pulls 30] [--pushes 150] [--seed 16] [--write docs/performance.md]

Each pull request is a git repository with a folder of pull requests (`hosts/local`), and each push is reviewed and
posted as `reviewbot review --pr ... --post` does it, with models: a fake Messages API on loopback reads what it is
shown. It reports each defect that stands there in other words, at other rows of the same function, with another
severity, confidence and category each time, leaves one in ten out, and now and then finds fault with sound code. The
pushes fix, add, move, rename, shift, revert, squash, rebase and merge. What is true of each head is known, for the
pushes were made here. Exits with 1 where a comment was repeated, or a thread of a fixed defect was left open.

Token equivalents are those of the requests: uncached input counts 1, what is written to the cache 1.25, what is read
from it .1; a token is four characters, and no cache outlives a push.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import mean, median
from typing import Any

from reviewbot.hosts.base import Thread
from reviewbot.publish.marker import Signer
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.post import post
from reviewbot.pull_requests.review import carry_out, prepare
from reviewbot.sources.git.repository import GitRepository
from reviewbot.wiring import RunInputs
from tests.git_repo import GitRepo
from tests.host_cases import LocalCase
from tests.messages_api import MessagesApi, Scripted, a_claim, a_reading, answered, asks_judge, rulings_on
from tests.still_clock import StillClock

SIGNER = Signer.from_environment({})
START, END = "<!-- pushes:start -->", "<!-- pushes:end -->"
CAUSES = ("missing-case", "wrong-value", "race", "unbounded-growth", "resource-leak")
WORDS = ("breaks", "caller", "nobody", "load", "empty", "order", "user", "value", "later", "twice", "total", "wrong")
CHARS, CACHED_FROM = 4, 1_024
"""Of a token; and the tokens from which on a provider's cache keeps a prefix."""
SILENT, NIT, DEFECTIVE, IN_DEFECT, ANSWERED = 0.1, 0.015, 0.15, 0.5, 0.3
"""How often a defect is left out of an answer, and sound code found fault with; how many functions have a defect at
first; how often an edit is in a function that has one; and a reply is written where it could be."""
OPERATIONS = (
    "fix",
    "fix",
    "add",
    "shift",
    "neighbour",
    "rename",
    "move",
    "rebase",
    "merge",
    "squash",
    "revert",
    "reply",
)


def function(number: int, *, defect: bool, step: int = 1) -> str:
    """One function. The defect is the division by a count that may be none."""
    count = f"order.count_{number}" if defect else f"max(1, order.count_{number})"
    return (
        f"def f_{number}(order, limit):\n    base_{number} = order.total * {number + 2}\n"
        f"    step_{number} = base_{number} + limit * {step}\n    value_{number} = order.rate / {count}\n"
        f"    order.save(value_{number})\n    return value_{number} + step_{number}\n"
    )


@dataclass
class Function:
    """A function of the head."""

    number: int
    defect: bool
    step: int = 1

    @property
    def text(self) -> str:
        """Its code."""
        return function(self.number, defect=self.defect, step=self.step)


class Model:
    """Answers as reader and judge; counts tokens as a provider with a cache would."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.files: Mapping[str, list[Function]] = {}
        self.kept: set[str] = set()
        self.equivalents = 0.0
        self.requests = 0

    def begin(self, files: Mapping[str, list[Function]]) -> None:
        """A push: another head, and an empty cache."""
        self.files, self.kept, self.equivalents, self.requests = files, set(), 0.0, 0

    def __call__(self, body: dict[str, Any]) -> Scripted:
        """The answer to a request."""
        usage = self._usage(body)
        shown = json.dumps(body["messages"])
        if asks_judge(body):
            severity = self.chance.choice(("warning", "warning", "critical", "info"))
            rate = {"confidence": self.chance.randint(82, 99), "worth": self.chance.randint(55, 95)}
            return answered(rulings_on(shown, severity=severity, reason=self._words(), **rate), usage=usage)
        if "findings" in body["output_config"]["format"]["schema"]["properties"]:
            return answered(a_reading(*self._claims(shown)), usage=usage)
        return answered({"reason": "as routed", "strategy": "merge", "tasks": [], "workers": []}, usage=usage)

    def _claims(self, shown: str) -> Iterator[dict[str, Any]]:
        for path, functions in self.files.items():
            for each in functions:
                rows = each.text.splitlines()
                seen = json.dumps(rows[3])[1:-1] in shown
                if each.defect and seen and self.chance.random() >= SILENT:
                    yield self._claim(path, rows, self.chance.choice(((3, 4), (2, 4), (3, 5))), each.number)
                elif not each.defect and seen and self.chance.random() < NIT:
                    yield self._claim(path, rows, (1, 2), each.number)

    def _claim(self, path: str, rows: list[str], span: tuple[int, int], number: int) -> dict[str, Any]:
        quote = "\n".join(rows[slice(*span)])
        proof = {"path": path, "side": "new", "quote": quote, "why": self._words()}
        return a_claim(
            path, quote, self._words(), id=f"f{number}", title=self._words(), impact=self._words(), proof=[proof],
            cause=CAUSES[number % len(CAUSES)] if span[0] > 1 else "convention",
            category=self.chance.choice(("logic", "state", "arithmetic")),
            confidence=self.chance.randint(82, 99), worth=self.chance.randint(55, 95),
            severity=self.chance.choice(("warning", "critical")),
        )  # fmt: skip

    def _words(self) -> str:
        return " ".join(self.chance.sample(WORDS, 6))

    def _usage(self, body: dict[str, Any]) -> dict[str, int]:
        """What a provider would count: what ends at a breakpoint is written to its cache, or read from there."""
        parts = [*body.get("tools", []), *_blocks(body.get("system"))]
        parts += [block for message in body["messages"] for block in _blocks(message["content"])]
        text, read, cached = "", 0, 0
        for part in parts:
            text += json.dumps({key: value for key, value in part.items() if key != "cache_control"})
            if "cache_control" in part and len(text) // CHARS >= CACHED_FROM:
                name = hashlib.sha256(f"{body['model']}{text}".encode()).hexdigest()
                read = len(text) if name in self.kept else read
                cached = len(text)
                self.kept.add(name)
        tokens = {
            "cache_read_input_tokens": read // CHARS,
            "cache_creation_input_tokens": (cached - read) // CHARS,
            "input_tokens": (len(text) - cached) // CHARS,
        }
        weights = {"cache_read_input_tokens": 0.1, "cache_creation_input_tokens": 1.25, "input_tokens": 1.0}
        self.equivalents += sum(weights[name] * count for name, count in tokens.items())
        self.requests += 1
        return {**tokens, "output_tokens": 200}


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []


@dataclass
class Row:
    """One push, as it is counted."""

    number: int
    """Of the pull request, from 1."""
    comments: int
    replies: int
    equivalents: float
    requests: int


@dataclass
class Counts:
    """What was counted over all pull requests."""

    rows: list[Row] = field(default_factory=list)
    repeats: int = 0
    left_open: int = 0
    too_early: int = 0
    """Threads that were resolved by us while their defect stood."""
    false: int = 0
    """Comments on sound code, where the fake model was wrong."""
    fixed: int = 0
    defects: int = 0
    commented: int = 0

    def add(self, other: Counts) -> None:
        """Add those of a further pull request."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class Pull:
    """One pull request over its pushes."""

    def __init__(self, folder: Path, git: GitRepository, model: Model, chance: random.Random) -> None:
        self.chance, self.model, self.next = chance, model, 0
        self.repo = GitRepo(folder)
        self.case = LocalCase(self.repo, git)
        self.files = {f"shop/part{number}.py": [self._new() for _ in range(12)] for number in range(4)}
        self.above: dict[str, int] = {}
        self.opened: dict[int, int] = {}
        """By thread, the number of the function that it was opened in; negative where the model was wrong about it."""
        self.replied: set[int] = set()

    def _new(self) -> Function:
        self.next += 1
        return Function(self.next, defect=self.chance.random() < DEFECTIVE)

    def commit(self) -> None:
        """Commit the files as they are now."""
        there = {str(path.relative_to(self.repo.folder)) for path in self.repo.folder.glob("shop/*.py")}
        texts: dict[str, str | None] = dict.fromkeys(there - set(self.files))
        for path, functions in self.files.items():
            above = "".join(f"ROW_{row} = {row}\n" for row in range(self.above.get(path, 0)))
            texts[path] = above + "\n\n" + "\n\n".join(each.text for each in functions)
        if any(text is None or not _same(self.repo.folder / path, text) for path, text in texts.items()):
            self.repo.commit(texts)

    def change(self) -> None:
        """One push: up to four operations."""
        for name in dict.fromkeys(self.chance.choices(OPERATIONS, k=self.chance.randint(2, 4))):
            getattr(self, f"_{name}")()
        self.commit()

    def _pick(self, *, defect: bool) -> Function | None:
        found = [each for functions in self.files.values() for each in functions if each.defect == defect]
        return self.chance.choice(found) if found else None

    def _fix(self) -> None:
        if (found := self._pick(defect=True)) is not None:
            found.defect = False

    def _revert(self) -> None:
        said = [each for each in self._all() if not each.defect and each.number in self.opened.values()]
        if said:
            self.chance.choice(said).defect = True

    def _add(self) -> None:
        made = self._new()
        made.defect = True
        self.files[self.chance.choice(list(self.files))].append(made)

    def _neighbour(self) -> None:
        if (found := self._pick(defect=self.chance.random() < IN_DEFECT)) is not None:
            found.step += 1

    def _shift(self) -> None:
        path = self.chance.choice(list(self.files))
        self.above[path] = self.above.get(path, 0) + self.chance.randint(1, 6)

    def _rename(self) -> None:
        path = self.chance.choice(list(self.files))
        new = f"shop/moved{self.chance.randint(0, 10**6)}.py"
        self.files = {new if name == path else name: each for name, each in self.files.items()}
        self.above[new] = self.above.pop(path, 0)

    def _move(self) -> None:
        giving = [path for path, functions in self.files.items() if len(functions) > 1]
        path, other = self.chance.choice(giving), self.chance.choice(list(self.files))
        each = self.files[path].pop(self.chance.randrange(len(self.files[path])))
        self.files[other].insert(0, each)

    def _base(self) -> None:
        self.commit()
        self.repo.git("checkout", "--quiet", "main")
        self.repo.commit({"README.md": f"{self.chance.random()}\n"})
        self.repo.git("checkout", "--quiet", "feature")

    def _rebase(self) -> None:
        self._base()
        self.repo.git("rebase", "--quiet", "main")

    def _merge(self) -> None:
        self._base()
        self.repo.git("merge", "--quiet", "--no-edit", "main")

    def _squash(self) -> None:
        self.commit()
        self.repo.git("reset", "--quiet", "--soft", self.repo.git("merge-base", "main", "HEAD"))
        self.repo.git("commit", "--quiet", "-m", "squashed")

    def _reply(self) -> None:
        if self.opened and self.chance.random() < ANSWERED:
            thread = self.chance.choice(list(self.opened))
            self.case.answer(thread, "Let us talk about that.")
            self.replied.add(thread)

    def _all(self) -> list[Function]:
        return [each for functions in self.files.values() for each in functions]

    async def review(self, environ: Mapping[str, str]) -> None:
        """Review the head and post, with the three steps of every entry point."""
        session = HostSession(self.case.host, SIGNER, clock=StillClock())
        ref = await fetch(session, self.case.repository, 1)
        with ExitStack() as closing:
            options = RunOptions(inputs=RunInputs(environ=environ))
            prepared = await asyncio.to_thread(prepare, session, ref, options, closing)
            made = await carry_out(session, prepared)
        await post(session, made.value)

    def threads(self) -> tuple[Thread, ...]:
        """All threads; each was opened by us."""
        return self.case.host.reviews(self.case.pull()).threads()

    def count(self, number: int, before: tuple[Thread, ...], counts: Counts) -> None:
        """Count what this push has led to."""
        now = self.threads()
        known = {each.thread_id: each for each in before}
        fresh = [each for each in now if each.thread_id not in known]
        wrong = {each.number for each in self._all() if each.defect}
        for each in fresh:
            about = self._function_at(each)
            about = about if about in wrong else -about
            counts.repeats += about in self.opened.values()
            counts.false += about < 0
            self.opened[each.thread_id] = about
        sound = {each.number for each in self._all() if not each.defect}
        for each in now:
            about, was = self.opened[each.thread_id], known.get(each.thread_id)
            if each.thread_id in self.replied:
                continue
            counts.left_open += about in sound and not each.resolved
            counts.too_early += about in wrong and bool(each.resolved) and not (was and was.resolved)
        self.ever |= wrong
        replies = sum(
            len(each.comments) - len(known[each.thread_id].comments) for each in now if each.thread_id in known
        )
        counts.rows.append(Row(number, len(fresh), replies, self.model.equivalents, self.model.requests))

    ever: set[int] = set()  # noqa: RUF012 - set for each pull request in `play`

    def _function_at(self, thread: Thread) -> int:
        rows = (self.repo.folder / thread.path).read_text("utf-8").splitlines()[: thread.line]
        return next(int(found[1]) for row in reversed(rows) if (found := re.match(r"def f_([0-9]+)", row)))


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text("utf-8") == text


def play_one(pushes: int, seed: int) -> Counts:
    """The counts of one pull request, in a folder of its own."""
    counts = Counts()
    with tempfile.TemporaryDirectory(prefix="pushes-") as folder:
        play(Path(folder) / "shop", pushes, seed, counts)
    return counts


def play(folder: Path, pushes: int, seed: int, counts: Counts) -> None:
    """One pull request, from its first push to its last."""
    chance = random.Random(seed)  # noqa: S311 - what happens in a test
    repo = GitRepo(folder)
    repo.commit({"README.md": "a shop\n"})
    repo.git("checkout", "--quiet", "-b", "feature")
    model = Model(random.Random(seed + 1))  # noqa: S311 - the same: what it says does not decide what is pushed
    with MessagesApi(model) as api, GitRepository(repo.folder) as git:
        environ = {"ANTHROPIC_API_KEY": "sk-ant-none", "ANTHROPIC_BASE_URL": api.url, "HOME": str(folder)}
        environ |= {"REVIEWBOT_REQUESTS_PER_MINUTE": "60000"}
        pull = Pull(repo.folder, git, model, chance)
        pull.ever = set()
        pull.commit()
        for number in range(1, pushes + 1):
            if number > 1:
                pull.change()
            before = pull.threads()
            model.begin(pull.files)
            asyncio.run(pull.review(environ))
            pull.count(number, before, counts)
        counts.defects += len(pull.ever)
        counts.commented += len(pull.ever & set(pull.opened.values()))
        counts.fixed += len(pull.ever - {each.number for each in pull._all() if each.defect})  # noqa: SLF001 - own
    api.check()


def table(counts: Counts, pulls: int) -> str:
    """The figures in Markdown."""
    by_number: dict[int, list[Row]] = defaultdict(list)
    for row in counts.rows:
        by_number[row.number].append(row)
    first = mean(row.equivalents for row in by_number[1])
    words = (
        f"{pulls} pull requests, {len(counts.rows)} pushes, {counts.defects} defects, {counts.fixed} of them fixed: "
        f"{counts.commented} got a comment, and sound code {counts.false}; **{counts.repeats} repeated**; "
        f"**{counts.left_open} threads** of fixed defects **left open**, {counts.too_early} resolved early."
    )
    lines = [
        words,
        "",
        "| Push | Pull requests | New comments | Replies | Requests | Equivalents, mean | median | of the first |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for number, rows in sorted(by_number.items()):
        cost = [row.equivalents for row in rows]
        lines.append(
            f"| {number} | {len(rows)} | {mean(row.comments for row in rows):.1f} | "
            f"{mean(row.replies for row in rows):.1f} | {mean(row.requests for row in rows):.1f} | "
            f"{mean(cost):,.0f} | {median(cost):,.0f} | {mean(cost) / first:.2f} |"
        )
    return "\n".join(lines)


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pulls", type=int, default=30)
    parser.add_argument("--pushes", type=int, default=150)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=2, help="pull requests at once")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    chance, counts = random.Random(arguments.seed), Counts()  # noqa: S311 - what happens in a test
    pushes = [1 + number % 2 for number in range(arguments.pulls)]
    while sum(pushes) < arguments.pushes:
        pushes[chance.randrange(len(pushes))] += 1
    with ProcessPoolExecutor(arguments.jobs) as pool:
        seeds = [arguments.seed * 1_000 + number for number in range(arguments.pulls)]
        for number, one in enumerate(pool.map(play_one, pushes, seeds)):
            counts.add(one)
            print(f"{number + 1}: {counts.repeats} repeats, {counts.left_open} left open", flush=True)
    made = table(counts, arguments.pulls)
    print(made)
    if arguments.write is not None:
        text = arguments.write.read_text("utf-8")
        before, _, rest = text.partition(START)
        arguments.write.write_text(f"{before}{START}\n{made}\n{END}{rest.partition(END)[2]}", "utf-8")
    return int(bool(counts.repeats or counts.left_open))


if __name__ == "__main__":
    sys.exit(main())
