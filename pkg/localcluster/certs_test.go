package localcluster

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

func TestServingCertificateIsForLoopbackOnly(t *testing.T) {
	now := time.Now()
	p := mustPKI(t, now)
	leaf := mustParse(t, p.serving)
	roots := x509.NewCertPool()
	roots.AddCert(p.ca.parsed)
	for _, name := range []string{"127.0.0.1", "::1", "localhost", "kubernetes.default.svc"} {
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: "10.0.0.1", Roots: roots, CurrentTime: now}); err == nil {
		t.Error("the certificate is valid for an address that is not loopback")
	}
	stranger := mustPKI(t, now)
	roots = x509.NewCertPool()
	roots.AddCert(stranger.ca.parsed)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now}); err == nil {
		t.Error("another cluster's authority vouches for the certificate")
	}
}

func TestClientCertificatesNameUserAndGroup(t *testing.T) {
	now := time.Now()
	p := mustPKI(t, now)
	roots := x509.NewCertPool()
	roots.AddCert(p.ca.parsed)
	for user, pair := range map[string]keyPair{
		"vicinity-admin":                 p.admin,
		"system:kube-controller-manager": p.controllerManager,
		"vicinity-kwok":                  p.kwok,
	} {
		leaf := mustParse(t, pair)
		if leaf.Subject.CommonName != user || !slices.Equal(leaf.Subject.Organization, []string{adminGroup}) {
			t.Errorf("subject %s, want user %s in group %s", leaf.Subject, user, adminGroup)
		}
		_, err := leaf.Verify(x509.VerifyOptions{
			Roots: roots, CurrentTime: now.Add(certLifetime - time.Minute), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		})
		if err != nil {
			t.Errorf("%s: %v", user, err)
		}
	}
}

func TestTokenKeysBelongTogether(t *testing.T) {
	files, err := mustPKI(t, time.Now()).write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	private, err := keyutil.PrivateKeyFromFile(files.tokenKey)
	if err != nil {
		t.Fatal(err)
	}
	public, err := keyutil.PublicKeysFromFile(files.tokenPublic)
	if err != nil || len(public) != 1 {
		t.Fatalf("%d public keys, %v, want one", len(public), err)
	}
	signer, ok := private.(*ecdsa.PrivateKey)
	if !ok || !signer.PublicKey.Equal(public[0]) {
		t.Error("the public key that verifies tokens does not belong to the key that signs them")
	}
	for _, path := range []string{files.tokenKey, files.servingKey} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v, want 0600", path, info.Mode(), err)
		}
	}
}

func mustPKI(t *testing.T, now time.Time) *pki {
	t.Helper()
	p, err := newPKI(now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mustParse also proves that certificate and key belong together.
func mustParse(t *testing.T, pair keyPair) *x509.Certificate {
	t.Helper()
	if _, err := tls.X509KeyPair(pair.cert, pair.key); err != nil {
		t.Fatal(err)
	}
	certs, err := cert.ParseCertsPEM(pair.cert)
	if err != nil {
		t.Fatal(err)
	}
	return certs[0]
}
