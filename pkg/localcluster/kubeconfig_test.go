package localcluster

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
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

func TestIntegrationNodeBoundKubeconfig(t *testing.T) {
	c := startForTest(t, "node-bound")
	createNode(t, adminClient(t, c), "n1")
	if _, err := c.NodeBoundKubeconfig(t.Context(), "default", "default", "n2"); !apierrors.IsNotFound(err) {
		t.Errorf("kubeconfig bound to a node that does not exist: %v, want not found", err)
	}
	for node, kubeconfig := range map[string]func() ([]byte, error){
		"n1": func() ([]byte, error) { return c.NodeBoundKubeconfig(t.Context(), "default", "default", "n1") },
		"":   func() ([]byte, error) { return c.ServiceAccountKubeconfig(t.Context(), "default", "default") },
	} {
		content, err := kubeconfig()
		if err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(content)
		if err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		user := review.Status.UserInfo
		got := strings.Join(user.Extra["authentication.kubernetes.io/node-name"], ",")
		if got != node || user.Username != "system:serviceaccount:default:default" {
			t.Errorf("%s is on node %q, want the ServiceAccount on %q", user.Username, got, node)
		}
	}
}
