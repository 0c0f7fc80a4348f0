#!/usr/bin/env bash
# Makes action.txt and release.txt again, with the newest versions that are allowed. Usage: requirements/lock.sh [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/.."
python="${1:-python3}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv "$scratch"
"$scratch/bin/python" -m pip install --quiet --disable-pip-version-check uv==0.13.9

# Usage: lock SOURCE NAME
lock() {
  # Universal: one file for all systems, with markers. The lowest Python decides which versions all of them can have.
  "$scratch/bin/uv" pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes --no-header \
    --no-annotate --output-file "$scratch/$2" "$1"
  {
    echo "# Made by \`make lock\` from $1. Do not edit it."
    echo "# Python 3.11 to 3.13, Linux and macOS."
    cat "$scratch/$2"
  } > "requirements/$2"
}

lock pyproject.toml action.txt
lock requirements/release.in release.txt
