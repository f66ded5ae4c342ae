#!/usr/bin/env bash
# Pins every module of this repository to one Kubernetes version.
#
#   hack/bump-kubernetes.sh v1.37.1
#
# k8s.io/kubernetes requires its staging modules at v0.0.0 and replaces them by folders of its own tree,
# which an importer does not have. So each of them is replaced here by its published version (v1.X.Y is
# published as v0.X.Y). The list is read from k8s.io/kubernetes itself: a module that a release adds or
# drops needs no edit here.
set -euo pipefail

version=${1:?usage: hack/bump-kubernetes.sh v1.MINOR.PATCH}
[[ $version =~ ^v1\.[0-9]+\.[0-9]+$ ]] || { echo "expected v1.MINOR.PATCH, found $version" >&2; exit 2; }
staging_version=v0.${version#v1.}
cd "$(dirname "$0")/.."

upstream=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/^.*"GoMod": "\(.*\)",$/\1/p')
staging=$(sed -n 's/^[[:space:]]*\(k8s\.io\/[a-z0-9-]*\) => \.\/staging.*/\1/p' "$upstream")
[[ -n $staging ]] || { echo "expected replaces by ./staging in $upstream, found none" >&2; exit 1; }

pin() { # pin MODFILE: requires and replaces in one go.mod, then drops replaces of modules that are gone
  local args=(-require="k8s.io/kubernetes@$version") module
  for module in $staging; do
    args+=(-replace="$module=$module@$staging_version")
    if grep -qE "^\s*(require )?$module v" "$1"; then args+=(-require="$module@$staging_version"); fi
  done
  for module in $(sed -n 's/^.*\(k8s\.io\/[a-z0-9-]*\) => .*/\1/p' "$1"); do
    grep -qx "$module" <<<"$staging" || args+=(-dropreplace="$module")
  done
  go mod edit "${args[@]}" "$1"
}

pin go.mod
go mod tidy
pin hack/controlplane/kubernetes.mod
hack/controlplane/tidy.sh
