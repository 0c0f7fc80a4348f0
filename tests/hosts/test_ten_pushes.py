"""Ten pushes to one pull request, on each host, with a reviewer that words and places things differently each time."""

from __future__ import annotations

import pytest

from tests.host_cases import HostCase
from tests.scripted_pushes import CART, PAY, SIGNER, Pushing, on_a_branch


@pytest.fixture
def pushing(case: HostCase) -> Pushing:
    return on_a_branch(case)


@pytest.mark.slow
def test_ten_pushes_repeat_nothing_and_resolve_what_is_fixed(pushing: Pushing) -> None:
    case, heads = pushing.case, pushing.heads

    posted = pushing.push({"shop/pay.py": PAY, "shop/cart.py": CART})
    assert posted.inline == 4

    # Rows are inserted above, the reviewer misses one, and finds fault with code that it has read before.
    pushing.reviewer.silent, pushing.reviewer.extra = frozenset({"lock.release()"}), ("return fee",)
    posted = pushing.push({"shop/pay.py": "import threading\n\nlock = threading.Lock()\n\n\n" + PAY})
    assert (posted.inline, pushing.states()["race"]) == (0, "new")
    assert "convention" not in pushing.states()
    pushing.reviewer.silent = frozenset()

    # One is fixed.
    fixed = "import threading\n\nlock = threading.Lock()\n\n\n" + PAY.replace("total - order.fee", "total + order.fee")
    fixing = case.repo.commit({"shop/pay.py": fixed})
    case.repo.commit({"shop/more.py": "MORE = 1\n"})
    posted = pushing.push({"shop/more.py": None})
    thread = pushing.threads["wrong-value"]
    assert (posted.inline, thread.resolved, len(thread.comments)) == (0, True, 2)
    assert f"**Fixed by** `{fixing[:10]}`" in thread.comments[1].body
    assert [each.resolved for kind, each in pushing.threads.items() if kind != "wrong-value"] == [False] * 3

    # The file is renamed.
    posted = pushing.push({"shop/pay.py": None, "shop/money.py": fixed})
    assert (posted.inline, pushing.states()["missing-check"]) == (0, "open")
    assert {record.path for record in pushing.ledger.records if record.is_open} == {"shop/money.py", "shop/cart.py"}

    # A person replies to a thread, then fixes what it is about: that thread is left to people.
    case.answer(pushing.threads["race"].thread_id, "Is it really?")
    fixed = fixed.replace("    lock.release()\n", "")
    pushing.push({"shop/money.py": fixed})
    thread = pushing.threads["race"]
    assert (pushing.states()["race"], thread.resolved, len(thread.comments)) == ("fixed", False, 2)

    # Everything is one commit now, forced over the branch.
    posted = pushing.push(None, "reset --quiet --soft main", "commit --quiet -m squashed")
    assert (posted.inline, len(pushing.threads)) == (0, 4)

    # The base branch goes on and is merged.
    case.repo.git("checkout", "--quiet", "main")
    case.repo.commit({"README.md": "more\n"})
    posted = pushing.push(None, "checkout --quiet feature", "merge --quiet --no-edit main")
    assert (posted.inline, pushing.states()["missing-check"]) == (0, "open")

    # The fix is reverted: the thread says so, and there is no second comment.
    posted = pushing.push({"shop/money.py": fixed.replace("total + order.fee", "total - order.fee")})
    thread = pushing.threads["wrong-value"]
    assert (posted.inline, pushing.states()["wrong-value"], len(thread.comments)) == (0, "open", 3)
    assert thread.resolved is False
    assert heads[-1][:10] in thread.comments[2].body

    # The branch is rebased, and the cart left alone after all.
    case.repo.git("checkout", "--quiet", "main")
    case.repo.commit({"README.md": "still more\n"})
    posted = pushing.push(
        {"shop/cart.py": "def add(cart, item):\n    return cart\n"},
        "checkout --quiet feature",
        "rebase --quiet main",
    )
    thread = pushing.threads["unbounded-growth"]
    assert (posted.inline, thread.resolved, pushing.states()["unbounded-growth"]) == (0, True, "fixed")

    # New code has a new defect.
    posted = pushing.push({"shop/run.py": "import os\n\n\ndef run(command):\n    os.system(command)\n"})
    assert (posted.inline, pushing.states()["injection"]) == (1, "new")

    reviews = case.host.reviews(case.pull()).reviews()
    markers = [SIGNER.read_review(each.body, case.pull().repository_id, 1) for each in reviews]
    assert [marker.summary == 0 for marker in markers if marker] == [True, False]
    assert reviews[0].review_id == posted.review_id
    assert [head.head for head in pushing.ledger.heads] == heads
    assert len(pushing.threads) == 5
