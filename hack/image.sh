#!/usr/bin/env bash
# Builds one container image for each named target of the Dockerfile: hack/image.sh vicinity-scheduler ...
set -euo pipefail

docker=${DOCKER:-docker}
cd "$(dirname "$0")/.."
if ! problem=$("$docker" info 2>&1 >/dev/null); then
  echo "image: needs a running container engine, and \"$docker info\" fails. Start it, or name another one with DOCKER=..." >&2
  echo "$problem" >&2
  exit 1
fi
read -ra flags <<<"${IMAGE_FLAGS:-}"
for target in "$@"; do
  "$docker" build --target "$target" --build-arg "VERSION=$VERSION" --tag "$IMAGE_PREFIX/$target:$VERSION" "${flags[@]}" .
done
