from __future__ import annotations

from reviewbot.config import Settings
from reviewbot.llm.client.rate_limiter import RateLimiter, TokenBucket
from reviewbot.review.trace import Trace
from reviewbot.sources.memory import MemoryJournal, SystemClock
from reviewbot.wiring.model_session import open_session
from reviewbot.wiring.models import RunServices


def test_the_calls_of_several_processes_share_the_rate_of_their_provider() -> None:
    asked: list[tuple[str, int | None, int | None]] = []
    clock = SystemClock()

    def rates(name: str, requests: int | None, tokens: int | None) -> RateLimiter:
        asked.append((name, requests, tokens))
        return TokenBucket(clock, requests, tokens)

    environ = {"ANTHROPIC_API_KEY": "sk-ant-none"}
    open_session(
        Settings(requests_per_minute=5), RunServices(clock, MemoryJournal(), Trace(clock), environ, rates=rates)
    )

    assert asked == [("anthropic", 5, None)]
