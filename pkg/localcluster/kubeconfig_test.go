package localcluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestKubeconfigStandsAlone(t *testing.T) {
	content, err := kubeconfig("https://127.0.0.1:20001", []byte("ca"), "vicinity-scheduler", clientcmdapi.AuthInfo{Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	if got.Host != "https://127.0.0.1:20001" || got.BearerToken != "secret" || string(got.CAData) != "ca" || got.CAFile != "" {
		t.Errorf("client configuration %+v does not hold server, token and authority", got)
	}
	parsed, err := clientcmd.Load(content)
	if err != nil {
		t.Fatal(err)
	}
	if user := parsed.Contexts[parsed.CurrentContext].AuthInfo; user != "vicinity-scheduler" {
		t.Errorf("user %q, want the ServiceAccount's name", user)
	}
}

func TestAdminConfigAndKubeconfigAgree(t *testing.T) {
	c := &Cluster{server: "https://127.0.0.1:20001", pki: mustPKI(t, time.Now())}
	content, err := c.certKubeconfig("admin", c.pki.admin)
	if err != nil {
		t.Fatal(err)
	}
	fromFile, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	config := c.AdminConfig()
	if diff := cmp.Diff(fromFile.TLSClientConfig, config.TLSClientConfig); diff != "" {
		t.Errorf("credentials (-kubeconfig +config):\n%s", diff)
	}
	if config.QPS >= 0 {
		t.Errorf("QPS %v limits the client", config.QPS)
	}
	config.Host = "changed"
	if c.AdminConfig().Host != "https://127.0.0.1:20001" {
		t.Error("changing a configuration changed the next one")
	}
}
