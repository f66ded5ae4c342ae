package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"github.com/vicinity-scheduler/vicinity/pkg/decisions/api"
)

const (
	// Environment variables that `vicinity up` and `demo --keep` print.
	serviceVariable = "VICINITY_SNIFFER"
	tokenVariable   = "VICINITY_TOKEN"

	// serviceSelector finds the service's pod, servicePort is where it answers there.
	serviceSelector = "app.kubernetes.io/name=vicinity,app.kubernetes.io/component=sniffer"
	servicePort     = 8443
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 256 << 20
	answerIn  = time.Minute

	serviceHelp = "The service is reached at --server or $" + serviceVariable + ",\n" +
		"else through the cluster's API server, as kubectl port-forward does. It wants a token: --token, $" + tokenVariable + ",\n" +
		"or that of the kubeconfig."
)

// serviceOptions say where decisions are asked for, and as whom.
type serviceOptions struct {
	connection       connectionOptions
	server, token    string
	serviceNamespace string
}

func (o *serviceOptions) addFlags(cmd *cobra.Command) {
	o.connection.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.server, "server", "", "`URL` of vicinity-sniffer (default $"+serviceVariable+")")
	flags.StringVar(&o.token, "token", "", "`TOKEN` to ask with (default $"+tokenVariable+", or the kubeconfig's)")
	flags.StringVar(&o.serviceNamespace, "service-namespace", "vicinity-system", "`NAMESPACE` that vicinity-sniffer runs in")
}

// service is a connection to vicinity-sniffer.
type service struct {
	url       string
	client    *http.Client
	namespace string
	close     func()
}

// connect reaches the service. A kubeconfig is needed for what flags and environment do not say.
func (o *serviceOptions) connect(ctx context.Context) (*service, error) {
	server, token := cmp.Or(o.server, os.Getenv(serviceVariable)), cmp.Or(o.token, os.Getenv(tokenVariable))
	config, namespace, err := o.connection.load()
	if err != nil && (server == "" || token == "") {
		return nil, err
	}
	s := &service{url: strings.TrimSuffix(server, "/"), namespace: cmp.Or(namespace, o.connection.namespace, corev1.NamespaceDefault), close: func() {}}
	var transport http.RoundTripper = http.DefaultTransport
	if token == "" {
		if transport, err = withToken(config, transport); err != nil {
			return nil, err
		}
	} else {
		transport = &bearer{token, transport}
	}
	s.client = &http.Client{Transport: transport, Timeout: answerIn}
	if s.url == "" {
		if s.url, s.close, err = forward(ctx, config, o.serviceNamespace); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// bearer adds a token to requests.
type bearer struct {
	token string
	to    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.to.RoundTrip(r)
}

// withToken uses the kubeconfig's token, or that of its credential plugin. A client certificate is no help: it identifies
// its owner to the API server only.
func withToken(config *rest.Config, transport http.RoundTripper) (http.RoundTripper, error) {
	if config.BearerToken == "" && config.BearerTokenFile == "" && config.ExecProvider == nil && config.AuthProvider == nil {
		return nil, errors.New("the kubeconfig identifies you by a certificate, which only the API server can check: " +
			"want a token in --token or $" + tokenVariable + " (kubectl create token SERVICEACCOUNT makes one)")
	}
	wrapped, err := rest.HTTPWrappersForConfig(config, transport)
	if err != nil {
		return nil, fmt.Errorf("taking the kubeconfig's token: %w", err)
	}
	return wrapped, nil
}

// forward opens a way through the API server to the service's pod and returns its address at this end.
func forward(ctx context.Context, config *rest.Config, namespace string) (address string, stop func(), err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: serviceSelector, FieldSelector: "status.phase=Running"})
	if err != nil {
		return "", nil, fmt.Errorf("looking for vicinity-sniffer in namespace %s: %w", namespace, err)
	}
	if len(pods.Items) == 0 {
		return "", nil, fmt.Errorf("vicinity-sniffer does not run in namespace %s: want its address in --server or $%s, or decisions in --file or --socket",
			namespace, serviceVariable)
	}
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return "", nil, fmt.Errorf("preparing to forward a port: %w", err)
	}
	target := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pods.Items[0].Name).SubResource("portforward").URL()
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, target)
	end, ready := make(chan struct{}), make(chan struct{})
	forwarder, err := portforward.New(dialer, []string{fmt.Sprintf("0:%d", servicePort)}, end, ready, io.Discard, io.Discard)
	if err != nil {
		return "", nil, fmt.Errorf("preparing to forward a port: %w", err)
	}
	failed := make(chan error, 1)
	go func() { failed <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-failed:
		return "", nil, fmt.Errorf("forwarding a port to pod %s/%s: %w", namespace, pods.Items[0].Name, err)
	case <-ctx.Done():
		close(end)
		return "", nil, ctx.Err()
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		close(end)
		return "", nil, fmt.Errorf("forwarding a port: %w", err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", ports[0].Local), func() { close(end) }, nil
}

// get asks the service and decodes its answer. Empty parameters are left out.
func (s *service) get(ctx context.Context, path string, parameters url.Values, into any) error {
	for name, values := range parameters {
		if len(values) == 1 && values[0] == "" {
			parameters.Del(name)
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/"+path+"?"+parameters.Encode(), http.NoBody)
	if err != nil {
		return fmt.Errorf("asking vicinity-sniffer: %w", err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("asking vicinity-sniffer: %w", err)
	}
	defer response.Body.Close()
	body := json.NewDecoder(io.LimitReader(response.Body, maxAnswer))
	if response.StatusCode != http.StatusOK {
		var problem api.Problem
		if body.Decode(&problem) != nil || problem.Error == "" {
			return fmt.Errorf("vicinity-sniffer at %s answers %s", s.url, response.Status)
		}
		return errors.New(problem.Error)
	}
	if err := body.Decode(into); err != nil {
		return fmt.Errorf("reading the answer of vicinity-sniffer at %s: %w", s.url, err)
	}
	return nil
}
