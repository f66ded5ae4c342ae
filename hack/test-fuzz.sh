#!/usr/bin/env bash
# Fuzzes each target of the module with FUZZ_RUNS inputs (default 8000, a second or two), or with fewer when there are
# so many targets that all of them would take minutes. Building the instrumented tests comes on top the first time.
#
# A number of inputs, not a time: go test before Go 1.27 sometimes fails with "context deadline exceeded" when the time
# is up, although nothing is wrong (go.dev/issue/75804).
set -euo pipefail

go=${GO:-go}
cd "$(dirname "$0")/.."
mapfile -t targets < <(grep -rEo --include='*_test.go' '^func Fuzz[[:alnum:]_]+' apis cmd hack manifests pkg test |
  sed -E 's,^(.*)/[^/]*:func (.*)$,./\1 \2,' | sort)
if ((${#targets[@]} == 0)); then
  echo "fuzz: no targets"
  exit 0
fi

runs=${FUZZ_RUNS:-8000}
share=$((150000 / ${#targets[@]}))
if ((share < runs)); then runs=$share; fi
echo "fuzz: ${#targets[@]} targets, $runs inputs each"
for target in "${targets[@]}"; do
  read -r package name <<<"$target"
  "$go" test -run '^$' -fuzz "^$name\$" -fuzztime "${runs}x" "$package"
done
