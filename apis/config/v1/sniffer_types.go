package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SnifferArgs configures plugin Sniffer, which records every scheduling decision.
//
// +kubebuilder:object:root=true
type SnifferArgs struct {
	metav1.TypeMeta `json:",inline"`

	// samplePercent, 1 to 100, is the share of pods whose attempts are recorded. A pod is recorded with all its attempts or
	// with none, by its UID, so the same pods are chosen everywhere. Default: 100.
	SamplePercent int32 `json:"samplePercent,omitempty"`

	// topK, 1 to 20, is how many of the best nodes are recorded with their scores. The chosen node always is. Default: 5.
	TopK int32 `json:"topK,omitempty"`

	// matrixLabel is the key of a pod label. Of pods that have it with the value "full", the verdict and the scores of
	// every node are recorded, not only of the best. Default: "vicinity.dev/trace".
	MatrixLabel string `json:"matrixLabel,omitempty"`

	// namespaces says whose pods are recorded. Default: those of all namespaces.
	Namespaces SnifferNamespaces `json:"namespaces,omitzero"`

	// labels says which labels of pods go into the records. Default: none.
	Labels SnifferLabels `json:"labels,omitzero"`

	// queueLength, 64 to 1048576, is how many records may wait to be written. When it is full, records are dropped, which
	// leaves gaps in their sequence; scheduling never waits. All profiles of a scheduler must say the same. Default: 8192.
	QueueLength int32 `json:"queueLength,omitempty"`

	// sinks are where records go. All profiles of a scheduler must say the same. Default: the metrics only.
	Sinks SnifferSinks `json:"sinks,omitzero"`
}

// SnifferNamespaces selects namespaces.
type SnifferNamespaces struct {
	// include lists the namespaces whose pods are recorded. Empty: all of them.
	Include []string `json:"include,omitempty"`
	// exclude lists namespaces whose pods are not recorded, whatever include says.
	Exclude []string `json:"exclude,omitempty"`
}

// SnifferLabels selects labels of pods.
type SnifferLabels struct {
	// keep lists the keys of the labels that are recorded with their values. "*" keeps all.
	Keep []string `json:"keep,omitempty"`
	// redact lists keys of labels whose presence is recorded, but not their value, whatever keep says.
	Redact []string `json:"redact,omitempty"`
}

// SnifferSinks are the places that records go to. Each is optional, and none waits for another.
type SnifferSinks struct {
	// file writes JSON lines into a file.
	File *SnifferFileSink `json:"file,omitempty"`
	// service sends records to a vicinity-sniffer, and keeps them on disk while that is away.
	Service *SnifferServiceSink `json:"service,omitempty"`
	// notify sends two events a pod, ScheduleSuccess and BindingSuccess, to a sidecar of the predecessor
	// (/api.SnifferService/Send). Events that it does not take in time are lost, as they were.
	Notify *SnifferNotifySink `json:"notify,omitempty"`
	// tracing sends a span for each attempt to an OpenTelemetry collector.
	Tracing *SnifferTracingSink `json:"tracing,omitempty"`
	// live serves the latest records on a socket of the scheduler's own.
	Live *SnifferLiveSink `json:"live,omitempty"`
}

// SnifferFileSink writes a file that is rotated by its size.
type SnifferFileSink struct {
	// path is the file. Older ones are kept beside it, with the time of their rotation in their name. Required.
	Path string `json:"path"`
	// maxSizeMiB, 1 to 10240, is the size at which a new file is begun. Default: 100.
	MaxSizeMiB int32 `json:"maxSizeMiB,omitempty"`
	// maxBackups, 1 to 1000, is how many older files are kept. Default: 5.
	MaxBackups int32 `json:"maxBackups,omitempty"`
	// maxAgeDays, 1 to 3650, is how long older files are kept. Absent: by their number only.
	MaxAgeDays int32 `json:"maxAgeDays,omitempty"`
	// compress says that older files are compressed with gzip.
	Compress bool `json:"compress,omitempty"`
}

// SnifferServiceSink is a connection to a vicinity-sniffer.
type SnifferServiceSink struct {
	// address is host:port, or unix: and the path of a socket. Required.
	Address string `json:"address"`
	// tls is how the connection is secured. Absent: not at all, which is allowed for sockets and loopback addresses only.
	TLS *SnifferTLS `json:"tls,omitempty"`
	// spoolDirectory is where records are kept until the service has acknowledged them. It must not be shared with another
	// process. Required.
	SpoolDirectory string `json:"spoolDirectory"`
	// spoolMaxMiB, 1 to 1048576, bounds the spool; beyond it the oldest records are dropped, and counted. Default: 4096,
	// which is two hours at 300 records of 2 KB a second.
	SpoolMaxMiB int32 `json:"spoolMaxMiB,omitempty"`
}

// SnifferTLS secures a connection. Files are read again when they change.
type SnifferTLS struct {
	// caFile has the certificates (PEM) that the server's must be signed by. Required.
	CAFile string `json:"caFile"`
	// certFile and keyFile (PEM) are what the scheduler identifies itself with. Absent: it does not.
	CertFile string `json:"certFile,omitempty"`
	// keyFile belongs to certFile.
	KeyFile string `json:"keyFile,omitempty"`
	// serverName is the name that the server's certificate must be for. Default: the host of the address.
	ServerName string `json:"serverName,omitempty"`
}

// SnifferNotifySink is a connection to a service of the predecessor.
type SnifferNotifySink struct {
	// address is host:port; the predecessor's sidecar listens on port 4242. It is not secured. Required.
	Address string `json:"address"`
}

// SnifferTracingSink is a connection to an OpenTelemetry collector.
type SnifferTracingSink struct {
	// endpoint is the host:port of its gRPC receiver (OTLP). Required.
	Endpoint string `json:"endpoint"`
	// insecure says that the connection is not secured. Default: TLS with the system's certificates.
	Insecure bool `json:"insecure,omitempty"`
	// samplePercent, 1 to 100, is the share of recorded pods that spans are made for. Default: 100.
	SamplePercent int32 `json:"samplePercent,omitempty"`
}

// SnifferLiveSink serves the latest records.
type SnifferLiveSink struct {
	// socket is the path of a unix socket that only the scheduler's user may open. Required.
	Socket string `json:"socket"`
	// records, 1 to 100000, is how many are kept in memory. Default: 2000.
	Records int32 `json:"records,omitempty"`
}
