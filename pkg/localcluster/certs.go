package localcluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	// certLifetime outlasts any throwaway cluster.
	certLifetime = 365 * 24 * time.Hour
	// clockSkew lets certificates be valid for a clock that is a little behind.
	clockSkew = 5 * time.Minute
	// serialBits is the size of random serial numbers (RFC 5280 allows 159 bits and asks for 64 random ones).
	serialBits = 127

	// adminGroup is bound to cluster-admin by the API server itself.
	adminGroup = "system:masters"
)

// keyPair is a certificate with its private key, both PEM encoded.
type keyPair struct {
	cert []byte
	key  []byte
}

// authority issues the certificates of one cluster.
type authority struct {
	keyPair
	parsed *x509.Certificate
	signer crypto.Signer
}

// pki is everything secret about a cluster.
type pki struct {
	ca                *authority
	frontProxy        *authority // nothing is issued by it; servers that delegate authentication look for one
	serving           keyPair    // for the API server and kube-controller-manager
	admin             keyPair
	controllerManager keyPair
	kwok              keyPair
	serviceAccount    keyPair // cert holds the public key
}

// newPKI makes new keys: elliptic ones, because making RSA keys would be a noticeable part of a start.
func newPKI(now time.Time) (*pki, error) {
	ca, err := newAuthority("vicinity-local-cluster", now)
	if err != nil {
		return nil, err
	}
	frontProxy, err := newAuthority("vicinity-local-front-proxy", now)
	if err != nil {
		return nil, err
	}
	p := &pki{ca: ca, frontProxy: frontProxy}
	for _, c := range []struct {
		to       *keyPair
		template x509.Certificate
	}{
		{&p.serving, servingTemplate()},
		{&p.admin, clientTemplate("vicinity-admin")},
		{&p.controllerManager, clientTemplate("system:kube-controller-manager")},
		{&p.kwok, clientTemplate("vicinity-kwok")},
	} {
		if *c.to, err = ca.issue(c.template, now); err != nil {
			return nil, fmt.Errorf("certificate of %s: %w", c.template.Subject.CommonName, err)
		}
	}
	if p.serviceAccount, err = newTokenKeys(); err != nil {
		return nil, fmt.Errorf("keys for ServiceAccount tokens: %w", err)
	}
	return p, nil
}

func newAuthority(name string, now time.Time) (*authority, error) {
	signer, key, err := newKey()
	if err != nil {
		return nil, err
	}
	parsed, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name, NotBefore: now.Add(-clockSkew)}, signer)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	return &authority{keyPair: keyPair{cert: encodeCert(parsed.Raw), key: key}, parsed: parsed, signer: signer}, nil
}

// issue completes the template and signs it.
func (a *authority) issue(template x509.Certificate, now time.Time) (keyPair, error) {
	signer, key, err := newKey()
	if err != nil {
		return keyPair{}, err
	}
	template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return keyPair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.NotBefore = now.Add(-clockSkew)
	template.NotAfter = now.Add(certLifetime)
	raw, err := x509.CreateCertificate(rand.Reader, &template, a.parsed, signer.Public(), a.signer)
	if err != nil {
		return keyPair{}, err
	}
	return keyPair{cert: encodeCert(raw), key: key}, nil
}

// servingTemplate holds the names under which the servers are reached: loopback only.
func servingTemplate() x509.Certificate {
	return x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.ParseIP(loopback), net.IPv6loopback},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// clientTemplate is for a client that may do everything.
func clientTemplate(user string) x509.Certificate {
	return x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: []string{adminGroup}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

// newTokenKeys makes the key pair that signs and verifies ServiceAccount tokens.
func newTokenKeys() (keyPair, error) {
	signer, key, err := newKey()
	if err != nil {
		return keyPair{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return keyPair{}, err
	}
	return keyPair{cert: pem.EncodeToMemory(&pem.Block{Type: keyutil.PublicKeyBlockType, Bytes: public}), key: key}, nil
}

func newKey() (crypto.Signer, []byte, error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	encoded, err := keyutil.MarshalPrivateKeyToPEM(signer)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding a key: %w", err)
	}
	return signer, encoded, nil
}

func encodeCert(raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: raw})
}

// pkiFiles are the paths of what the servers read from files.
type pkiFiles struct {
	caCert, frontProxyCert, servingCert, servingKey, tokenPublic, tokenKey string
}

// write puts the files into folder, which must be readable by nobody else.
func (p *pki) write(folder string) (pkiFiles, error) {
	f := pkiFiles{
		caCert:         filepath.Join(folder, "ca.crt"),
		frontProxyCert: filepath.Join(folder, "front-proxy-ca.crt"),
		servingCert:    filepath.Join(folder, "serving.crt"),
		servingKey:     filepath.Join(folder, "serving.key"),
		tokenPublic:    filepath.Join(folder, "service-account.pub"),
		tokenKey:       filepath.Join(folder, "service-account.key"),
	}
	err := errors.Join(
		os.WriteFile(f.caCert, p.ca.cert, 0o600),
		os.WriteFile(f.frontProxyCert, p.frontProxy.cert, 0o600),
		os.WriteFile(f.servingCert, p.serving.cert, 0o600),
		os.WriteFile(f.servingKey, p.serving.key, 0o600),
		os.WriteFile(f.tokenPublic, p.serviceAccount.cert, 0o600),
		os.WriteFile(f.tokenKey, p.serviceAccount.key, 0o600),
	)
	return f, err
}
