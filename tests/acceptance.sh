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
python3 "$corpus/check_diffs.py" --parser "$parser"
python3 "$corpus/fuzz_git_names.py" --parser "$parser" --count 40 --seed "$RANDOM"
python3 "$corpus/mutate.py" --parser "$parser" --count 80 --seed "$RANDOM"
python3 "$corpus/linter_traps/check_linter.py" --cmd 'reviewbot review change.diff --repo . --engine analyzers'

for name in small medium large; do
  reviewbot review "$shared/perf/diffs/$name.diff" --engine analyzers --format json --no-cache --allow-partial --output "$corpus/$name.json"
  python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(sys.argv[1].rsplit("/")[-1], r["headline"])' "$corpus/$name.json"
done
