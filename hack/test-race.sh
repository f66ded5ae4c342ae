#!/usr/bin/env bash
# Runs the tests of some packages (default: all) under the race detector: hack/test-race.sh ./pkg/...
#
# The detector needs a C compiler and compiles every dependency anew, so it leaves out packages whose tests pull in
# k8s.io/kubernetes, and runs in short mode: control planes are for the pass without it.
set -euo pipefail

go=${GO:-go}
cd "$(dirname "$0")/.."
if (($# == 0)); then set -- ./...; fi
compiler=$("$go" env CC)
if ! command -v "${compiler%% *}" >/dev/null; then
  echo "race detector: skipped, because there is no C compiler (looked for \"$compiler\"; CC names another one)"
  exit 0
fi

mapfile -t packages < <("$go" list -test -f '{{.ImportPath}} {{join .Deps " "}}' "$@" |
  awk '$1 ~ /[.]test$/ && !/ k8s[.]io\/kubernetes\// { sub(/[.]test$/, "", $1); print $1 }')
if ((${#packages[@]} == 0)); then
  echo "race detector: no package with tests that do without k8s.io/kubernetes"
  exit 0
fi
echo "race detector: ${#packages[@]} packages"
CGO_ENABLED=1 "$go" test -race -short -timeout 15m "${packages[@]}"
