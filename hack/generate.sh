#!/usr/bin/env bash
# Writes every generated file anew: deep copies and CRDs from the API types, Go from protobuf, install.yaml from the
# chart. Where a result is the same as before, nothing changes.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

tool() { "${GO:-go}" tool -modfile=hack/tools/go.mod "$@"; }

mkdir "$scratch/crds"
tool controller-gen object crd paths=./apis/... output:crd:dir="$scratch/crds"

# The version of protoc goes into the files that it writes; it is left out, because each distribution has its own.
if ! command -v protoc >/dev/null; then
  echo "expected protoc in PATH, found none: install your distribution's protobuf-compiler" >&2
  exit 1
fi
ln -s "$(tool -n protoc-gen-go)" "$scratch/protoc-gen-go"
ln -s "$(tool -n protoc-gen-go-grpc)" "$scratch/protoc-gen-go-grpc"
mkdir "$scratch/proto"
PATH="$scratch:$PATH" protoc --proto_path=. --go_out="$scratch/proto" --go_opt=module=github.com/vicinity-scheduler/vicinity \
  --go-grpc_out="$scratch/proto" --go-grpc_opt=module=github.com/vicinity-scheduler/vicinity apis/trace/v1/*.proto
sed -i -E '/^\/\/ (- )?(\t)?protoc +(\(unknown\)|v[0-9.]+)$/d' "$scratch"/proto/apis/trace/v1/*.pb.go
cp "$scratch"/proto/apis/trace/v1/*.pb.go apis/trace/v1/

# The chart's folder is the only copy of our CRDs. One whose kind is gone goes too.
for crd in manifests/chart/crds/*.yaml; do
  if [[ ! -e $scratch/crds/${crd##*/} ]]; then rm -f "$crd"; fi
done
cp "$scratch"/crds/*.yaml manifests/chart/crds/

# A chart that renders may still be wrong.
tool helm lint --strict --quiet manifests/chart
tool helm lint --strict --quiet manifests/chart --set compatProfiles=true
tool helm lint --strict --quiet manifests/chart --set-json 'agent.config={"hostRoot": "/host", "collectors": [
  {"name": "diskprofile"}, {"name": "diskstats"}], "diskProfile": {"fio": {"folders": ["/var/lib/kubelet", "/srv"]},
  "capacities": [{"vendor": "ATA", "read": "150Mi", "write": "140Mi"}]}}'
tool helm lint --strict --quiet manifests/chart --set sniffer.ingest.tlsSecretName=a,sniffer.ingest.schedulerTLSSecretName=b \
  --set sniffer.http.tlsSecretName=c,sniffer.database.secretName=d,sniffer.storage.claimName=e,sniffer.legacyPort=4242

# Everything that could come from this machine is given, so that the same chart gives the same file everywhere.
{
  echo "# Written by \"make generate\" from manifests/chart with its default values. Edit that."
  tool helm template vicinity manifests/chart --include-crds --namespace vicinity-system --set namespace.create=true \
    --kube-version "$("${GO:-go}" list -m -f '{{.Version}}' k8s.io/kubernetes)"
} >"$scratch/install.yaml"
mv "$scratch/install.yaml" manifests/install.yaml

"${GO:-go}" run ./hack/metricsdoc >"$scratch/metrics.md"
mv "$scratch/metrics.md" docs/metrics.md
