package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/ingest"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/health"
)

// requestRate is how many questions a second the service may ask the API server: two for each token and right that it has
// not asked about lately, and reports of nodes.
const (
	requestRate  = 50
	requestBurst = 100
)

type options struct {
	healthAddress string
	database      string
	databaseFile  string
	retention     store.Retention
	ingestAddress string
	ingestTLS     ingest.TLS
	legacyAddress string
	httpAddress   string
	httpTLS       decisions.ServerTLS
	kubeconfig    string
	standalone    bool
}

func newOptions() *options {
	return &options{
		healthAddress: ":8082",
		database:      "decisions.db",
		retention:     store.Retention{Age: 7 * 24 * time.Hour, Decisions: 2_000_000},
		ingestAddress: "unix:vicinity-sniffer.sock",
		httpAddress:   "127.0.0.1:8080",
	}
}

func (o *options) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.healthAddress, "health-address", o.healthAddress,
		"`ADDRESS` that serves /healthz, /readyz and /metrics, as host:port or :port")
	fs.StringVar(&o.database, "database", o.database,
		"where decisions are kept: a `FILE` (SQLite), or postgres://user@host/database for several services of one cluster")
	fs.StringVar(&o.databaseFile, "database-file", "", "`FILE` that holds what --database would say, for an address with a password")
	fs.DurationVar(&o.retention.Age, "retention", o.retention.Age, "how long decisions are kept; 0 for ever")
	fs.Int64Var(&o.retention.Decisions, "max-decisions", o.retention.Decisions, "how many decisions are kept; 0 for any number")
	fs.StringVar(&o.ingestAddress, "ingest-address", o.ingestAddress,
		"`ADDRESS` that takes records, as unix:PATH or host:port; other than loopback addresses need the --ingest-... files")
	fs.StringVar(&o.ingestTLS.CertFile, "ingest-cert-file", "", "`FILE` with the certificate that schedulers are shown")
	fs.StringVar(&o.ingestTLS.KeyFile, "ingest-key-file", "", "`FILE` with its key")
	fs.StringVar(&o.ingestTLS.ClientCAFile, "ingest-client-ca-file", "",
		"`FILE` with the certificates that those of schedulers must be signed by")
	fs.StringVar(&o.legacyAddress, "legacy-address", "",
		"`ADDRESS` that takes events of scheduler-sniffer's clients, without TLS: whoever reaches it can write events; none by default")
	fs.StringVar(&o.httpAddress, "http-address", o.httpAddress,
		"`ADDRESS` that serves questions and the page; other than loopback addresses need the --http-... files")
	fs.StringVar(&o.httpTLS.CertFile, "http-cert-file", "", "`FILE` with the certificate that browsers are shown")
	fs.StringVar(&o.httpTLS.KeyFile, "http-key-file", "", "`FILE` with its key")
	fs.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `FILE`; the ServiceAccount of the pod if empty")
	fs.BoolVar(&o.standalone, "standalone", false, "store records without a cluster: no watcher, no questions, no page")
}

func (o *options) validate() error {
	errs := []error{
		health.ValidateAddress("health-address", o.healthAddress),
		health.ValidateAddress("http-address", o.httpAddress),
		together("ingest-cert-file, ingest-key-file and ingest-client-ca-file",
			o.ingestTLS.CertFile, o.ingestTLS.KeyFile, o.ingestTLS.ClientCAFile),
		together("http-cert-file and http-key-file", o.httpTLS.CertFile, o.httpTLS.KeyFile),
	}
	if o.legacyAddress != "" {
		errs = append(errs, health.ValidateAddress("legacy-address", o.legacyAddress))
	}
	if o.retention.Age < 0 || o.retention.Decisions < 0 {
		errs = append(errs, errors.New("--retention and --max-decisions: want 0 or more"))
	}
	if o.httpTLS.CertFile == "" && !loopback(o.httpAddress) {
		errs = append(errs, fmt.Errorf("--http-address: %s can be reached from other machines, and tokens are sent to it: "+
			"want a loopback address (kubectl port-forward reaches it) or --http-cert-file and --http-key-file", o.httpAddress))
	}
	return errors.Join(errs...)
}

// together checks flags that mean something only with each other.
func together(names string, values ...string) error {
	given := 0
	for _, value := range values {
		if value != "" {
			given++
		}
	}
	if given != 0 && given != len(values) {
		return fmt.Errorf("--%s: want all or none of them", names)
	}
	return nil
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // which is another flag's error
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (o *options) databaseAddress() (string, error) {
	if o.databaseFile == "" {
		return o.database, nil
	}
	content, err := os.ReadFile(o.databaseFile)
	if err != nil {
		return "", fmt.Errorf("--database-file: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

func (o *options) kubernetes() (*rest.Config, error) {
	if o.standalone {
		return nil, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: want a kubeconfig file, or a pod of a cluster to run in, or --standalone: %w", err)
	}
	config.QPS, config.Burst = requestRate, requestBurst
	return config, nil
}
