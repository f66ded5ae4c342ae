package localcluster

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// kubeconfigName is the name of the cluster and the context in kubeconfigs.
	kubeconfigName = "vicinity"
	// tokenLifetime outlasts a day's work with one cluster; such tokens are not renewed.
	tokenLifetime = 24 * time.Hour
)

// AdminConfig is a client configuration with all rights and without client-side rate limits. Each call returns a copy.
func (c *Cluster) AdminConfig() *rest.Config {
	return &rest.Config{
		Host: c.server,
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   c.pki.ca.cert,
			CertData: c.pki.admin.cert,
			KeyData:  c.pki.admin.key,
		},
		QPS: -1,
	}
}

// AdminKubeconfig is the content of a kubeconfig file with all rights; it refers to no other file.
func (c *Cluster) AdminKubeconfig() []byte {
	return c.adminKubeconfig
}

// ServiceAccountKubeconfig is the content of a kubeconfig file with the rights of an existing ServiceAccount. Its
// token is valid for a day.
func (c *Cluster) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) ([]byte, error) {
	return c.tokenKubeconfig(ctx, namespace, name, nil)
}

// NodeBoundKubeconfig is ServiceAccountKubeconfig with a token that tells the API server of an existing node, as the
// token of a pod on that node does. The token ends with the Node object.
func (c *Cluster) NodeBoundKubeconfig(ctx context.Context, namespace, name, node string) ([]byte, error) {
	return c.tokenKubeconfig(ctx, namespace, name,
		&authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Node", Name: node})
}

// tokenKubeconfig is a kubeconfig with a token of a ServiceAccount, bound to an object unless that is nil.
func (c *Cluster) tokenKubeconfig(
	ctx context.Context, namespace, name string, bound *authenticationv1.BoundObjectReference,
) ([]byte, error) {
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return nil, err
	}
	seconds := int64(tokenLifetime / time.Second)
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds, BoundObjectRef: bound},
	}, metav1.CreateOptions{})
	if err != nil {
		if bound != nil {
			return nil, fmt.Errorf("token for ServiceAccount %s/%s bound to %s %s (both must exist): %w",
				namespace, name, bound.Kind, bound.Name, err)
		}
		return nil, fmt.Errorf("token for ServiceAccount %s/%s (it must exist): %w", namespace, name, err)
	}
	return kubeconfig(c.server, c.pki.ca.cert, name, clientcmdapi.AuthInfo{Token: token.Status.Token})
}

// kubeconfig is the content of a kubeconfig file for one user of one server.
func kubeconfig(server string, ca []byte, user string, auth clientcmdapi.AuthInfo) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[kubeconfigName] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[user] = &auth
	config.Contexts[kubeconfigName] = &clientcmdapi.Context{Cluster: kubeconfigName, AuthInfo: user}
	config.CurrentContext = kubeconfigName
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of %s: %w", user, err)
	}
	return content, nil
}

// certKubeconfig is a kubeconfig for the owner of a client certificate.
func (c *Cluster) certKubeconfig(user string, pair keyPair) ([]byte, error) {
	return kubeconfig(c.server, c.pki.ca.cert, user,
		clientcmdapi.AuthInfo{ClientCertificateData: pair.cert, ClientKeyData: pair.key})
}
