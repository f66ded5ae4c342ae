package tracesink

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

// transport returns how the connection to the service is secured.
func transport(args *configv1.SnifferServiceSink) (credentials.TransportCredentials, error) {
	if args.TLS == nil {
		return insecure.NewCredentials(), nil
	}
	reloading := &reloadingTLS{args: *args.TLS}
	// Once at the start, so that a wrong path is said there and not in a log.
	if _, err := reloading.load(); err != nil {
		return nil, err
	}
	return reloading, nil
}

// reloadingTLS reads its files at each handshake: certificates are renewed while a scheduler runs, and handshakes are
// rare.
type reloadingTLS struct {
	args configv1.SnifferTLS
}

func (r *reloadingTLS) load() (credentials.TransportCredentials, error) {
	authorities, err := os.ReadFile(r.args.CAFile)
	if err != nil {
		return nil, fmt.Errorf("certificates of the decision service: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13, ServerName: r.args.ServerName, RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("certificates of the decision service: want certificates in PEM form in %s, found none", r.args.CAFile)
	}
	if r.args.CertFile != "" {
		own, err := tls.LoadX509KeyPair(r.args.CertFile, r.args.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("certificate for the decision service: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return credentials.NewTLS(config), nil
}

// ClientHandshake implements credentials.TransportCredentials.
func (r *reloadingTLS) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	now, err := r.load()
	if err != nil {
		return nil, nil, err
	}
	return now.ClientHandshake(ctx, authority, conn)
}

// ServerHandshake implements credentials.TransportCredentials. Nobody serves with these.
func (r *reloadingTLS) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, fmt.Errorf("expected to be a client of the decision service, found a server")
}

// Info implements credentials.TransportCredentials.
func (r *reloadingTLS) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls", ServerName: r.args.ServerName} //nolint:staticcheck // no other way to say it
}

// Clone implements credentials.TransportCredentials.
func (r *reloadingTLS) Clone() credentials.TransportCredentials { return &reloadingTLS{args: r.args} }

// OverrideServerName implements credentials.TransportCredentials.
func (r *reloadingTLS) OverrideServerName(name string) error {
	r.args.ServerName = name
	return nil
}
