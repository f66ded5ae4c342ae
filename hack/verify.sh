#!/usr/bin/env bash
# Runs every check that needs no test run, to the end, and then lists those that failed. It judges the working tree as
# it is: uncommitted work is fine, generated files that do not fit it are not.
set -euo pipefail

go=${GO:-go}
make=${MAKE:-make}
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=()

check() { # check NAME COMMAND...: runs the command and remembers the name if it fails
  local start=$SECONDS
  printf '\n== verify: %s\n' "$1"
  if "${@:2}"; then
    echo "== ok after $((SECONDS - start)) s"
  else
    echo "== FAILED after $((SECONDS - start)) s"
    failed+=("$1")
  fi
}

tree() { # the id of what a commit of everything here would hold, untracked files included
  rm -f "$scratch/index"
  GIT_INDEX_FILE=$scratch/index git add --all . && GIT_INDEX_FILE=$scratch/index git write-tree
}

unchanged() { # unchanged SINCE ADVICE: fails, with a list of files, if the tree is not the one of that id
  local now
  now=$(tree) || return
  if [[ $now != "$1" ]]; then
    git --no-pager diff --stat "$1" "$now"
    echo "$2"
    return 1
  fi
}

generated() {
  local before
  before=$(tree) && "$make" --no-print-directory generate &&
    unchanged "$before" "generated files were out of date; they are written anew now: commit them"
}

tidy() { # tidy FILE.mod: whether go mod tidy would change a module file or its sums
  local copy=$scratch/${1//\//_}
  if [[ ${1##*/} == go.mod ]]; then
    "$go" -C "$(dirname "$1")" mod tidy -diff
  else # a module file beside others, without a folder of its own
    mkdir "$copy" && cp "$1" "$copy/go.mod" && cp "${1%.mod}.sum" "$copy/go.sum" && "$go" -C "$copy" mod tidy -diff
  fi
}

scripts() {
  local script
  while IFS= read -r script; do
    bash -n "$script" || return
  done < <(find hack .ci -type f \( -name '*.sh' -o -name run \))
  if command -v shellcheck >/dev/null; then
    find hack .ci -type f \( -name '*.sh' -o -name run \) -exec shellcheck {} +
  fi
}

check "generated files" generated
start=$(tree)
while IFS= read -r module; do
  check "module file ${module#./}" tidy "$module"
done < <(find . -name '*.mod' -not -path './_output/*' -not -path './.git/*' | sort)
check "bugs, style and sizes (lint-go)" "$make" --no-print-directory lint-go
check "API conventions (lint-api)" "$make" --no-print-directory lint-api
check "logging (lint-logs)" "$make" --no-print-directory lint-logs
check "scripts" scripts
check "nothing left behind" unchanged "$start" "these files were changed by the checks"

if ((${#failed[@]} > 0)); then
  printf '\nverify: %d checks failed:\n' "${#failed[@]}"
  printf '  %s\n' "${failed[@]}"
  exit 1
fi
printf '\nverify: all checks passed\n'
