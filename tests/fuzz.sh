#!/usr/bin/env bash
# Long: the diff front against 1,000 random git commits and 5,000 mutants, with new seeds. `make fuzz`, not in the gate.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/hostile"
seed="${SEED:-$RANDOM}"
echo "seed $seed"
python3 fuzz_git_names.py --parser 'reviewbot parse - --format json' --count "${COMMITS:-1000}" --seed "$seed" &
commits=$!
python3 mutate.py --parser 'reviewbot parse - --format json' --count "${MUTANTS:-5000}" --seed "$seed"
wait "$commits"
