"""Findings and reviews made to order, for what is remembered of them."""

from __future__ import annotations

from tests.make import factory
from tests.report.conftest import a_finding, a_review

make_finding = factory(a_finding, "make_finding")
make_review = factory(a_review, "make_review")
