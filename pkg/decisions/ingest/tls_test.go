package ingest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/ingest"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
)

// authority signs certificates and keeps them in files.
type authority struct {
	t      *testing.T
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	pool   *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, folder: t.TempDir(), pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	var der []byte
	a.key, der = a.sign(template, template, nil)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.cert = cert
	a.pool.AddCert(cert)
	a.write("ca.crt", "CERTIFICATE", der)
	return a
}

func (a *authority) sign(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	return key, der
}

func (a *authority) write(name, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func (a *authority) path(name string) string { return filepath.Join(a.folder, name) }

// issue makes NAME.crt and NAME.key.
func (a *authority) issue(name string) tls.Certificate {
	a.t.Helper()
	key, der := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, a.key)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name+".crt", "CERTIFICATE", der)
	a.write(name+".key", "PRIVATE KEY", encoded)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestMutualTLS(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	ours.issue("server")
	s := start(t, &ingest.TLS{CertFile: ours.path("server.crt"), KeyFile: ours.path("server.key"), ClientCAFile: ours.path("ca.crt")})
	known, stranger := ours.issue("scheduler"), theirs.issue("scheduler")
	for name, c := range map[string]struct {
		transport credentials.TransportCredentials
		want      codes.Code
	}{
		"a certificate of ours":  {credentials.NewTLS(&tls.Config{RootCAs: ours.pool, Certificates: []tls.Certificate{known}, MinVersion: tls.VersionTLS13}), codes.OK},
		"somebody else's":        {credentials.NewTLS(&tls.Config{RootCAs: ours.pool, Certificates: []tls.Certificate{stranger}, MinVersion: tls.VersionTLS13}), codes.Unavailable},
		"no certificate":         {credentials.NewTLS(&tls.Config{RootCAs: ours.pool, MinVersion: tls.VersionTLS13}), codes.Unavailable},
		"no TLS":                 {insecure.NewCredentials(), codes.Unavailable},
		"a server that lies":     {credentials.NewTLS(&tls.Config{RootCAs: theirs.pool, Certificates: []tls.Certificate{known}, MinVersion: tls.VersionTLS13}), codes.Unavailable},
		"ours, and an older TLS": {credentials.NewTLS(&tls.Config{RootCAs: ours.pool, Certificates: []tls.Certificate{known}, MaxVersion: tls.VersionTLS12}), codes.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			stream, err := tracev1.NewDecisionServiceClient(s.dial(c.transport)).Ingest(t.Context())
			if err == nil {
				_, err = s.send(stream, 1, wire(storetest.Bound("tls", 1))...)
			}
			if err != nil && c.want == codes.OK || err == nil && c.want != codes.OK {
				t.Errorf("found %v (%v), want %v", err, status.Code(err), c.want)
			}
		})
	}
	if s.count() != 1 {
		t.Errorf("%d records, want the one of the known client", s.count())
	}
}

func TestServeReportsMissingCertificates(t *testing.T) {
	ln, err := ingest.Listen(t.Context(), "127.0.0.1:0", true)
	if err != nil {
		t.Fatal(err)
	}
	err = ingest.Serve(t.Context(), ingest.Options{Listener: ln, Registerer: prometheus.NewRegistry(), TLS: &ingest.TLS{CertFile: "/none.crt", KeyFile: "/none.key"}})
	if err == nil {
		t.Error("want an error that names the file")
	}
}
