#!/usr/bin/env bash
# Prints the linker flags that stamp one program: hack/ldflags.sh vicinity-scheduler
#
# All programs of ours carry our version. The scheduler also answers --version and the metric kubernetes_build_info
# as every kube-scheduler does: with the Kubernetes version compiled in, and the commit and date it was built from.
set -euo pipefail

program=${1:?usage: hack/ldflags.sh PROGRAM}
cd "$(dirname "$0")/.."
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo dev)}

stamp() { printf -- '-X %s=%s ' "$1" "$2"; }

stamp github.com/vicinity-scheduler/vicinity/pkg/version.Version "$version"
if [[ $program == vicinity-scheduler ]]; then
  kubernetes=$("${GO:-go}" list -m -f '{{.Version}}' k8s.io/kubernetes)
  IFS=. read -r major minor _ <<<"${kubernetes#v}"
  state=clean
  if [[ $version == *-dirty ]]; then state=dirty; fi
  base=k8s.io/component-base/version
  stamp $base.gitVersion "$kubernetes"
  stamp $base.gitMajor "$major"
  stamp $base.gitMinor "$minor"
  stamp $base.gitCommit "$(git rev-parse --verify --quiet HEAD || echo unknown)"
  stamp $base.gitTreeState "$state"
  # The commit's date, so that the same commit gives the same binary.
  stamp $base.buildDate "$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null || echo 1970-01-01T00:00:00Z)"
fi
