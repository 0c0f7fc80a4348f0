"""Render a report in the format that was asked for."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from reviewbot.delivery import DeliveredReview
from reviewbot.domain.contracts import Finding
from reviewbot.report.formats import FORMATS, ReportInput
from reviewbot.report.terminal_style import style_of


def nowhere(finding: Finding) -> str:  # noqa: ARG001 - as `address_of` is called
    """The address of a finding whose files are not at hand."""
    return ""


def render(
    arguments: argparse.Namespace, delivered: DeliveredReview, address_of: Callable[[Finding], str] = nowhere
) -> str:
    """Render a review in the format that was asked for, with a last LF: for a file, or for standard output.

    `address_of`: where the lines of a finding are; empty where that is not known.
    """
    style, here = style_of(sys.stdout, os.environ), arguments.output is None
    report = ReportInput(
        delivered.review,
        delivered.fingerprints,
        style.width,
        style.colour and here,
        arguments.verbose,
        address_of if style.links and here else None,
    )
    return FORMATS[arguments.format].render(report)
