"""Every model that crosses a module. Values only: frozen, strict, unknown fields refused, no I/O, no decisions.

Text in a model is always valid Unicode: bytes that are not UTF-8 become U+FFFD in code, and git's own quoted form in
names (see `reviewbot.diff.parser.file_names`). Line numbers are 1-based. Durations are milliseconds, money is US
dollars.

What models are asked to answer in stands in `answers.py`: a review without models does not load it.
"""

from reviewbot.domain.contracts.base import (
    MANDATORY_WORKER,
    SEVERITY_ORDER,
    SURE,
    Conclusion,
    Contract,
    CoverageState,
    Effort,
    EscalationReason,
    GapReason,
    Kind,
    Need,
    ParseState,
    Severity,
    Side,
    Status,
    Tier,
    Verdict,
)
from reviewbot.domain.contracts.change import (
    DESCRIPTION,
    TITLE,
    ChangeSet,
    FileChange,
    FileReadBefore,
    Hunk,
    ParsedFile,
    ReadBefore,
    StandingFinding,
    Theme,
)
from reviewbot.domain.contracts.coverage import CoverageCount, FileCoverage, PlannedFile, Reading, Span
from reviewbot.domain.contracts.results import (
    MODEL_SOURCE,
    Candidate,
    Dropped,
    Escalation,
    Failure,
    Finding,
    Gap,
    Metadata,
    Outcome,
    Proof,
    ToolRun,
    Usage,
    WorkerResult,
)
from reviewbot.domain.contracts.review import (
    Conflict,
    HumanItem,
    Review,
    Timings,
    Withheld,
    WorkerUsage,
    provider_failure,
)
from reviewbot.domain.contracts.suppression import SECRET, Suppression, is_grave
from reviewbot.domain.contracts.work import (
    CardBudget,
    Constraints,
    Part,
    Payload,
    Plan,
    ReviewTask,
    SkippedWorkers,
    WorkerCard,
)
