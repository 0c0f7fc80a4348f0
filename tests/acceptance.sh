#!/usr/bin/env bash
# The command line as a whole against the material in $SHARED: the parser protocol, a few fuzzed inputs, planted code.
set -euo pipefail
shared="${SHARED:?the folder with the shared material}"
parser='reviewbot parse - --format json'
corpus="$(mktemp -d)"
trap 'rm -rf "$corpus"' EXIT
cp -r "$shared/hostile/." "$corpus"
chmod -R u+w "$corpus"

python3 "$corpus/generate_big.py"
# What a busy machine needs is no fault of the parser: a limit of time ends what hangs, and decides nothing else.
sed -i 's/\("max_seconds": \)[0-9.]*/\1600/' "$corpus/index.json"
python3 "$corpus/check_diffs.py" --parser "$parser" --timeout 600
python3 "$corpus/fuzz_git_names.py" --parser "$parser" --timeout 600 --count 40 --seed "$RANDOM"
python3 "$corpus/mutate.py" --parser "$parser" --timeout 600 --count 80 --seed "$RANDOM"
python3 "$corpus/linter_traps/check_linter.py" --timeout 600 --cmd 'reviewbot review change.diff --repo . --engine analyzers'

# Real changes: every file of the diff is in the coverage, nothing that should have been read was not.
for name in small medium large; do
  reviewbot review "$shared/perf/diffs/$name.diff" --engine analyzers --format json --no-cache --output "$corpus/$name.json"
  reviewbot parse "$shared/perf/diffs/$name.diff" >"$corpus/$name.parsed.json"
  python3 - "$corpus/$name.json" "$corpus/$name.parsed.json" <<'EOF'
import json, sys
review, parsed = (json.load(open(name)) for name in sys.argv[1:])
assert [c["path"] for c in review["coverage"]] == [f["path"] for f in parsed["files"]]
assert not review["gaps"] and not review["incomplete"], review["gaps"]
assert all(f["evidence"] and f["confidence"] >= 80 for f in review["findings"])
print(sys.argv[1].rsplit("/")[-1], review["headline"])
EOF
done

# What the tools are worth on labelled cases: the scorer that comes with them counts what is shown.
groups="securityeval owasp_py clean_owasp_py clean_real clean_fix clean_quixbugs clean_planstack"
# shellcheck disable=SC2086 # the groups are words
reviewbot eval "$shared/bench/cases" --out "$corpus/results.jsonl" --group $groups
# shellcheck disable=SC2046,SC2086 # the same
python3 "$shared/bench/load.py" score "$corpus/results.jsonl" --min-confidence 80 --json "$corpus/scores.json" \
  $(printf -- '--group %s ' $groups) >"$corpus/scores.txt"
python3 - "$corpus/scores.json" <<'EOF'
import json, sys
groups = json.load(open(sys.argv[1]))["groups"]
found, owasp = groups["securityeval"], groups["owasp_py"]
false = groups["clean_owasp_py"]["false_findings"] + owasp["false_findings"]
precision = owasp["true_findings"] / max(1, owasp["true_findings"] + false)
above = owasp["recall"] - groups["clean_owasp_py"]["clean_share_flagged"]
print(f"securityeval {found['recall']:.2f}, owasp precision {precision:.2f}, true rate - false rate {above:.2f}")
assert found["recall"] >= 0.55 and precision >= 0.75 and above >= 0.25
allowed = {"clean_real": 1, "clean_planstack": 1, "clean_quixbugs": 0.05 * 23, "clean_fix": 0.05 * 38}
for name, most in allowed.items():
    print(name, groups[name]["clean_cases_flagged"], "of", groups[name]["clean_cases"], "flagged")
    assert groups[name]["clean_cases_flagged"] <= most
EOF

# With models: what is sent for real changes. The server is a fake that answers at once, and finds nothing.
cat >"$corpus/answers.json" <<'JSON'
[{"match": "# Planner\\b", "text": "{\"reason\": \"as routed\", \"strategy\": \"merge\", \"tasks\": [], \"workers\": []}"},
 {"match": "You review one part", "text": "{\"summary\": \"\", \"themes\": [], \"findings\": [], \"hints\": [], \"tasks\": []}"}]
JSON
for name in small medium large; do
  python3 "$shared/perf/measure.py" --diff "$name" --base-ms 0 --server "--answers $corpus/answers.json" \
    --out "$corpus/model.jsonl" -- "$(command -v reviewbot)" review {diff} --engine models --no-cache >/dev/null
done
python3 - "$corpus/model.jsonl" <<'EOF2'
import json, sys
for row in map(json.loads, open(sys.argv[1])):
    name, tokens = row["diff"], row["tok_per_diff_tok"]
    print(f"{name}: {row['requests']} calls, {tokens} tokens in per token of diff, {row['lines_shown']:.0%} of added lines shown")
    assert row["rc"] == 0 and not row["failed"], row
    assert row["lines_shown"] >= 0.97, row
    assert name == "small" or tokens <= 6, row
    assert name != "small" or row["requests"] <= 2, row
EOF2

# A pull request, reviewed and posted, and the App, on a GitHub that others have made.
if python3 -m tests.emulate_github --folder "$corpus/emulate" --install; then
  python3 -m tests.emulate_github --folder "$corpus/emulate"
  python3 -m tests.emulate_app --folder "$corpus/emulate"
else
  echo "the emulator cannot be installed: what make emulate shows is left out"
fi
