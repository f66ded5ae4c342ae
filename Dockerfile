# One target a program:
#
#   docker build --target vicinity-scheduler --build-arg VERSION=v1.2.3 .
#
# BUILD_IMAGE needs Go, git and bash. BASE_IMAGE needs nothing, because the programs are static. "vicinity up" compiles
# a control plane on first use, so an image in which it works needs Go and git in BASE_IMAGE too. Agents that are to measure
# disks (docs/agent.md) need the program fio in theirs.
ARG BUILD_IMAGE=golang:1.26
ARG BASE_IMAGE=scratch

FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS source
ENV CGO_ENABLED=0 GOFLAGS="-buildvcs=false -trimpath" GOMODCACHE=/cache/mod GOCACHE=/cache/build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/cache go mod download
COPY . .
ARG VERSION=dev
# Which platform to build for; set by the container engine.
ARG TARGETOS TARGETARCH

FROM source AS build-scheduler
RUN --mount=type=cache,target=/cache flags=$(hack/ldflags.sh vicinity-scheduler) && \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w $flags" -o /out/vicinity-scheduler ./cmd/scheduler

FROM source AS build-controller
RUN --mount=type=cache,target=/cache flags=$(hack/ldflags.sh vicinity-controller) && \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w $flags" -o /out/vicinity-controller ./cmd/controller

FROM source AS build-agent
RUN --mount=type=cache,target=/cache flags=$(hack/ldflags.sh vicinity-agent) && \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w $flags" -o /out/vicinity-agent ./cmd/agent

FROM source AS build-sniffer
RUN --mount=type=cache,target=/cache flags=$(hack/ldflags.sh vicinity-sniffer) && \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w $flags" -o /out/vicinity-sniffer ./cmd/sniffer

FROM source AS build-vicinity
RUN --mount=type=cache,target=/cache flags=$(hack/ldflags.sh vicinity) && \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w $flags" -o /out/vicinity ./cmd/vicinity

FROM ${BASE_IMAGE} AS base
# Certificate authorities, for servers outside the cluster; the API server's comes with the ServiceAccount.
COPY --from=source /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
# A number, because Kubernetes cannot check that a name is not root. The chart uses the same one.
USER 65532:65532

FROM base AS vicinity-scheduler
COPY --from=build-scheduler /out/vicinity-scheduler /
ENTRYPOINT ["/vicinity-scheduler"]

FROM base AS vicinity-controller
COPY --from=build-controller /out/vicinity-controller /
ENTRYPOINT ["/vicinity-controller"]

FROM base AS vicinity-agent
COPY --from=build-agent /out/vicinity-agent /
ENTRYPOINT ["/vicinity-agent"]

FROM base AS vicinity-sniffer
COPY --from=build-sniffer /out/vicinity-sniffer /
ENTRYPOINT ["/vicinity-sniffer"]

FROM base AS vicinity
COPY --from=build-vicinity /out/vicinity /
ENTRYPOINT ["/vicinity"]
