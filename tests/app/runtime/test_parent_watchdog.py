from __future__ import annotations

import os
import subprocess
import sys
from threading import Event

from reviewbot.app.runtime.supervise import VARIABLE, follow_supervisor

PROGRAM = """
import os, signal, sys, time
from reviewbot.app.runtime.supervise import follow_supervisor
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
follow_supervisor(os.environ)
print("ready", flush=True)
while True:
    time.sleep(0.02)
"""


def test_a_child_stops_when_its_supervisor_is_gone() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={VARIABLE: "stdin"}
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == b"ready\n"
    child.stdin.close()

    assert child.wait(60) == 7
    child.stdout.close()


def test_it_waits_as_long_as_the_other_end_is_held() -> None:
    read, write = os.pipe()
    ended = Event()
    watcher = follow_supervisor({VARIABLE: "stdin"}, ended.set, read)
    assert watcher is not None
    os.write(write, b"still here")
    assert watcher.is_alive()
    os.close(write)

    assert ended.wait(60)
    watcher.join(60)
    os.close(read)


def test_nobody_is_followed_who_is_not_there() -> None:
    assert follow_supervisor({}) is None
