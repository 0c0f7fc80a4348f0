"""`reviewbot serve` as an App on a GitHub that others have made, and a model API that is a fake.

    python -m tests.emulate_app [--folder DIR]

Starts `emulate` as `tests.emulate_github` does, with an App that is installed in two organisations and receives every
event there is, and `reviewbot serve` (its web process and its worker) with its state in files. It shows: a pull request
that is opened there gets one review and a check run; a repeated, a forged and our own events lead to nothing; another
push gets a review of its own; an installation without the permission ends in a state that says so; of ten pushes in a
row the last one is reviewed, and nothing is written about the others but the end of the check run that had begun. Ends
with 0 if all of it is so.

`emulate` signs and delivers what happens there, but has no `synchronize`: that one is signed and delivered by this
program, with the pull request as the emulator's API tells it. For the rest of what it lacks see `tests.emulate_github`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

from tests.emulate_gate import BOT, WatchedGate
from tests.emulate_github import (
    ADMIN,
    AFTER,
    APP_ID,
    BEFORE,
    INSTALLATION,
    PERMISSIONS,
    GitHub,
    WrongError,
    emulated,
    installed,
    must,
    team,
)
from tests.emulate_served import LIMIT_S, SECRET, Server, until
from tests.github_api.apps import a_key
from tests.messages_api import MessagesApi, Scripted
from tests.ports import free_port

Json = Any

OTHER_INSTALLATION = 101
READING = {**PERMISSIONS, "pull_requests": "read"}
"""What the second organisation has granted: too little to post."""

OTHER = {name: f"{text}\n\ndef share(total, people):\n    return total / people\n" for name, text in AFTER.items()}
"""Another change: what models said of the first one is remembered, and they are not asked again."""

PUSHES = 10
TOLD_S = 10.0
"""After a push was accepted: by then nothing is written about the head before it. The models answer no sooner."""

SEED = f"""\
tokens:
  {ADMIN}:
    login: admin
    scopes: [repo, user, admin:org]
github:
  users: [{{login: admin, name: An admin, email: admin@example.com}}]
  orgs:
    - {{login: acme, name: Acme, members: [{{login: admin, role: admin}}]}}
    - {{login: beta, name: Beta, members: [{{login: admin, role: admin}}]}}
  repos:
    - {{owner: acme, name: shop, auto_init: true}}
    - {{owner: beta, name: shop, auto_init: true}}
  apps:
    - app_id: {APP_ID}
      slug: reviewbot
      name: reviewbot
      private_key: {{key}}
      permissions: {json.dumps({**PERMISSIONS, "issues": "write"})}
      events: ["*"]
      webhook_url: http://127.0.0.1:PORT/webhook
      webhook_secret: {SECRET}
      installations:
        - {{installation_id: {INSTALLATION}, account: acme, repository_selection: all}}
        - installation_id: {OTHER_INSTALLATION}
          account: beta
          repository_selection: all
          permissions: {json.dumps(READING)}
"""
"""GitHub lets an App that may write to pull requests comment on them; the emulator wants `issues` for it."""


class AppStory:
    """What is shown, one after the other."""

    def __init__(self, gate: WatchedGate, pem: str, server: Server, model: MessagesApi) -> None:
        self.gate, self.server, self.model = gate, server, model
        self.acme, self.beta = GitHub(gate.url, pem), GitHub(gate.url, pem, "beta/shop")

    def told(self) -> None:
        """All of it. Raises WrongError at the first thing that is not as it should be."""
        for github in (self.acme, self.beta):
            github.commit(BEFORE, "main", "main")
        number = self.opened()
        self.repeated_and_forged(number)
        self.own_doing(number)
        self.pushed(number)
        self.not_permitted()
        self.ten_pushes()

    def opened(self) -> int:
        number = self.acme.open_pull("first")
        self.until("the review is there", lambda: len(self.acme.reviews(number)) == 1)
        review, head = self.acme.reviews(number)[0], self.head(self.acme, number)
        run = self.ended(self.acme, head)
        must((run["state"], run["attempts"]) == ("posted", 1), f"the run is {run}")
        must(review["commit_id"] == head, f"the review is on {review['commit_id']}")
        must(review["user"]["login"] == BOT, f"it was written by {review['user']['login']}")
        must("divides by zero" in review["body"], f"it does not say what the model found: {review['body'][:500]}")
        checks = [(each["name"], each["status"]) for each in self.acme.checks(number)]
        must(checks == [("reviewbot", "completed")], f"the check runs are {checks}")
        must(self.server.told("accepted", "pull_request", "opened") == 1, "the delivery was not the emulator's")
        say(f"opened there, signed there: one review on {head[:12]} and a check run; run {run['state']}")
        return number

    def repeated_and_forged(self, number: int) -> None:
        event = self.event("opened", self.acme, number)
        must(self.server.deliver("pull_request", event) == 202, "a repeat was not answered with 202")
        must(self.server.told("repeat", "pull_request") == 1, f"it was not known as one: {self.server.tail()}")
        status = self.server.deliver("pull_request", event, "another-webhook-secret-than-ours")
        must(status == 401, f"a forged delivery was answered with {status}")
        say("the same once more under another id is a repeat; under another secret it is refused with 401")

    def own_doing(self, number: int) -> None:
        """The check as the emulator tells of it, a comment as GitHub would: there, no pull request is named."""
        token = self.acme.token({"issues": "write", "metadata": "read"})
        path = f"/repos/{self.acme.repository}/issues/{number}/comments"
        comment = self.acme.ask("POST", path, {"body": "/reviewbot review"}, token)
        issue = {"number": number, "state": "open", "pull_request": {}}
        event = {**self.event("created", self.acme, number), "issue": issue, "comment": comment}
        del event["pull_request"]
        self.server.deliver("issue_comment", {**event, "sender": comment["user"]})
        must(self.server.told("ignored", "issue_comment", "our own doing") == 1, f"we answer us: {self.server.tail()}")
        must(self.server.told("ignored", "check_run", "our own doing") > 0, f"no check came back: {self.server.tail()}")
        accepted = sum(each["message"] == "delivery accepted" for each in self.server.lines())
        must((accepted, len(self.server.runs())) == (1, 1), f"{accepted} deliveries became {self.server.runs()}")
        say("what we do ourselves, the check and a comment with a command, is ignored")

    def pushed(self, number: int) -> None:
        before = self.head(self.acme, number)
        head = self.push(self.acme, number)
        run = self.ended(self.acme, head)
        reviews = [each["commit_id"] for each in self.acme.reviews(number)]
        must(run["state"] == "posted" and reviews == [before, head], f"the run is {run}, the reviews are on {reviews}")
        say(f"another push gets a review of its own, on {head[:12]}; run {run['state']}")

    def not_permitted(self) -> None:
        number = self.beta.open_pull("first")
        head = self.head(self.beta, number)
        run = self.ended(self.beta, head)
        must(run["state"] == "failed", f"the run is {run}")
        must("permissions" in run["reason"], f"it does not say why: {run}")
        must(self.beta.reviews(number) == [], "a review was posted without the permission")
        said = [str(each["output"]["summary"]) for each in self.beta.checks(number)]
        must(any("permissions" in each for each in said), f"the check does not say it: {said}")
        say(f"a refused permission: run {run['state']}, {run['reason']}")

    def ten_pushes(self) -> None:
        """While the models think about the first head."""
        go_on = Event()
        self.model.otherwise = held_until(go_on)
        asked = len(self.model.asked)
        number = self.acme.open_pull("second", OTHER)
        self.until("the first head is under review", lambda: len(self.model.asked) > asked)
        began = time.monotonic()
        pushed = {self.head(self.acme, number): began}
        for _ in range(PUSHES):
            pushed[self.push(self.acme, number)] = time.monotonic()
        last = list(pushed)[-1]
        took = time.monotonic() - began
        time.sleep(TOLD_S)
        go_on.set()
        run = self.ended(self.acme, last)
        self.until("no run is open", lambda: all(each["ended"] for each in self.server.runs()))
        reviews = [each["commit_id"] for each in self.acme.reviews(number)]
        must(run["state"] == "posted" and reviews == [last], f"the run is {run}, the reviews are on {reviews}")
        states = [each["state"] for each in self.server.runs() if each["head"] in pushed and each["head"] != last]
        must(set(states) == {"superseded"}, f"the runs on the other heads are {states}")
        self.nothing_late(pushed)
        say(f"{PUSHES} pushes in {took:.1f} s: one review, of the last; {len(states)} runs superseded, no more said")

    def nothing_late(self, pushed: dict[str, float]) -> None:
        """Once the push behind it is known, the App writes nothing about a head, but ends the check that it began."""
        writes = [each for each in self.gate.written if "/git/" not in each.path]  # that is this program's own pushing
        for (head, _), (_, known_at) in pairwise(pushed.items()):
            checks = self.acme.ask("GET", f"/repos/{self.acme.repository}/commits/{head}/check-runs")["check_runs"]
            paths = {f"/repos/{self.acme.repository}/check-runs/{each['id']}" for each in checks}
            about = [each for each in writes if head in json.dumps(each.body) or each.path in paths]
            open_ones = [each for each in checks if each["status"] != "completed"]
            must(not open_ones, f"a check of {head} goes on for ever: {open_ones}")
            late = [each for each in about if each.at > known_at + TOLD_S and not is_end(each.body)]
            must(not late, f"{head} was written about: {late}")

    # --- small parts ---

    def push(self, github: GitHub, number: int) -> str:
        """Another head, and the event that the emulator does not send; the head."""
        github.move(number)
        status = self.server.deliver("pull_request", self.event("synchronize", github, number))
        must(status == 202, f"a push was answered with {status}")
        return self.head(github, number)

    def event(self, action: str, github: GitHub, number: int) -> Json:
        """A `pull_request` event, of what the emulator tells."""
        place = f"/repos/{github.repository}"
        pull, repository = github.ask("GET", f"{place}/pulls/{number}"), github.ask("GET", place)
        return {
            "action": action,
            "number": number,
            "pull_request": pull,
            "repository": repository,
            "sender": pull["user"],
            "installation": {"id": INSTALLATION},
        }

    @staticmethod
    def head(github: GitHub, number: int) -> str:
        return str(github.ask("GET", f"/repos/{github.repository}/pulls/{number}")["head"]["sha"])

    def ended(self, github: GitHub, head: str) -> Json:
        """The run on a head, once it has ended."""
        self.until(
            f"the run on {head} has ended", lambda: bool(self.server.run_of(github.repository, head).get("ended"))
        )
        return self.server.run_of(github.repository, head)

    def until(self, what: str, done: Callable[[], bool]) -> None:
        until(what, done, self.server)


def is_end(body: Json) -> bool:
    """Whether it says of a check run that it was cancelled."""
    return isinstance(body, dict) and (body.get("status"), body.get("conclusion")) == ("completed", "cancelled")


def held_until(go_on: Event) -> Callable[[Json], Scripted]:
    """The team, which thinks until then."""

    def answer(body: Json) -> Scripted:
        go_on.wait(LIMIT_S)
        return team(body)

    return answer


def say(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main() -> int:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where to install; what is there already is used again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            tell(installed(folder), Path(temporary))
        except WrongError as wrong:
            sys.stderr.write(f"not as it should be: {wrong}\n")
            return 1
    sys.stdout.write("one review of each head that was wanted, and nothing else: as it should be\n")
    return 0


def tell(program: list[str], folder: Path) -> None:
    """The story, with everybody in it running."""
    pem, port = a_key(), free_port()
    seed = SEED.replace("PORT", str(port))
    with WatchedGate() as gate, emulated(program, folder, pem, gate, seed), MessagesApi(team) as model:
        server = Server(folder, port, environ_of(folder, gate.url, model.url, pem))
        GitHub(gate.url, pem).introduce()
        with server.running():
            AppStory(gate, pem, server, model).told()
        model.check()
        log = server.lines()
        secrets = (SECRET, "PRIVATE KEY", "ghs_", "sk-none")
        must(not any(secret in json.dumps(log) for secret in secrets), "a secret is in the log")
        faults = [each for each in log if each["level"] == "error"]
        must(not faults, f"the log has errors: {faults}")


def environ_of(folder: Path, github: str, model: str, pem: str) -> dict[str, str]:
    """An environment that has nothing of ours."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "REVIEWBOT_STATE_DIR": str(folder / "state"),
        "REVIEWBOT_APP_ID": str(APP_ID),
        "REVIEWBOT_PRIVATE_KEY": pem,
        "REVIEWBOT_WEBHOOK_SECRET": SECRET,
        "REVIEWBOT_ENGINE": "models",
        "GITHUB_API_URL": github,
        "ANTHROPIC_API_KEY": "sk-none",
        "ANTHROPIC_BASE_URL": model,
    }


if __name__ == "__main__":
    sys.exit(main())
