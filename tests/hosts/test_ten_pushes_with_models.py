"""Ten pushes to one pull request that models read: what was pushed where that is enough, else everything."""

from __future__ import annotations

import pytest

from tests.host_cases import HostCase
from tests.messages_api import MessagesApi
from tests.ten_pushes import TenPushes, repeat_nothing_and_forget_nothing


@pytest.mark.slow
def test_ten_pushes_that_models_read_repeat_nothing_and_forget_nothing(
    case: HostCase, messages_api: MessagesApi
) -> None:
    repeat_nothing_and_forget_nothing(TenPushes(case, messages_api))
