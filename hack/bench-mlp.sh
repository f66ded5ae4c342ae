#!/usr/bin/env bash
# What MLPScore takes: the network alone with both kernels, PreScore as the scheduler calls it, and beside them PyTorch and
# the predecessor's way over HTTP where Python has what they need (python3-torch, python3-flask).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOMAXPROCS=1 OMP_NUM_THREADS=1

"${GO:-go}" test ./pkg/mlp -run '^$' -bench Forward -benchtime "${BENCH_TIME:-1s}"
"${GO:-go}" test ./pkg/plugins/mlpscore -run '^$' -bench PreScore -benchtime "${BENCH_TIME:-1s}"
# Another Python may come first on the PATH than the distribution's, which has the distribution's packages.
for python in /usr/bin/python3 "$(command -v python3 || true)"; do
  if [[ -x $python ]]; then exec "$python" hack/bench-mlp.py; fi
done
echo "PyTorch and the HTTP path: skipped, there is no python3 here"
