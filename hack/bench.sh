#!/usr/bin/env bash
# Runs all benchmarks, BENCH_COUNT times BENCH_TIME each, one package after the other so that they do not disturb each
# other. Keeps a file a package of what go test prints (benchstat reads it), and beside it the same as JSON events.
set -euo pipefail

go=${GO:-go}
cd "$(dirname "$0")/.."
output=${OUTPUT:-_output}/bench
mkdir -p "$output"
mapfile -t folders < <(grep -rlE --include='*_test.go' '^func Benchmark' apis cmd hack manifests pkg test | xargs -r -n 1 dirname | sort -u)
if ((${#folders[@]} == 0)); then
  echo "bench: no benchmarks"
  exit 0
fi
for folder in "${folders[@]}"; do
  file=$output/${folder//\//_}
  "$go" test -run '^$' -bench . -benchmem -count "${BENCH_COUNT:-6}" -benchtime "${BENCH_TIME:-1s}" -timeout 1h "./$folder" |
    tee "$file.txt"
  "$go" tool test2json -p "$folder" <"$file.txt" >"$file.json"
done
echo "bench: results are in $output"
