#!/usr/bin/env bash
# Completes the module files of this folder: every sum that building their tools needs is written to the .sum
# file beside it, so that a build on a user's machine is read-only and verified.
set -euo pipefail
cd "$(dirname "$0")"
for module in *.mod; do
  name=${module%.mod}
  scratch=$(mktemp -d)
  cp "$module" "$scratch/go.mod"
  if [[ -f $name.sum ]]; then cp "$name.sum" "$scratch/go.sum"; fi
  (cd "$scratch" && go mod tidy)
  cp "$scratch/go.mod" "$module"
  cp "$scratch/go.sum" "$name.sum"
  rm -r "$scratch"
done
