package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/client-go/kubernetes"
)

const (
	// How long answers of the API server count. A right that was taken away holds for that long.
	tokenTTL = 10 * time.Second
	allowTTL = 10 * time.Second
	denyTTL  = 5 * time.Second
	// reviewTimeout bounds one question.
	reviewTimeout = 10 * time.Second
	// maxNamespaces is how many namespaces a question may be about, unless it is about all.
	maxNamespaces = 64
	// maxAsked is how many namespaces are tried for somebody who does not name any.
	maxAsked = 500
)

// Access tells who asks and what they may see.
type Access struct {
	authenticator authenticator.Request
	authorizer    authorizer.Authorizer
}

// NewAccess asks the API server.
func NewAccess(client kubernetes.Interface) (*Access, error) {
	backoff := &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Steps: 3}
	who, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		TokenAccessReviewClient: client.AuthenticationV1(), TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff: backoff, CacheTTL: tokenTTL,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("preparing authentication: %w", err)
	}
	what, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(), AllowCacheTTL: allowTTL, DenyCacheTTL: denyTTL, WebhookRetryBackoff: backoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("preparing authorisation: %w", err)
	}
	return &Access{who, what}, nil
}

// caller is somebody who asks, with what they may see.
type caller struct {
	access *Access
	user   user.Info
}

// caller finds out who asks.
func (a *Access) caller(r *http.Request) (*caller, error) {
	answer, ok, err := a.authenticator.AuthenticateRequest(r)
	if !ok || err != nil {
		// What is wrong with a token is nobody's business but the API server's.
		return nil, &problem{http.StatusUnauthorized, "want a bearer token that the cluster knows: kubectl create token SERVICEACCOUNT makes one"}
	}
	return &caller{a, answer.User}, nil
}

// may asks for one right.
func (c *caller) may(ctx context.Context, verb, group, resource, namespace string) (bool, error) {
	decision, _, err := c.access.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: c.user, Verb: verb, APIGroup: group, APIVersion: "*", Resource: resource, Namespace: namespace, ResourceRequest: true,
	})
	if err != nil {
		return false, &problem{http.StatusServiceUnavailable, "the API server does not say what you may see: try again"}
	}
	return decision == authorizer.DecisionAllow, nil
}

// seesPods tells whether the caller may get pods in a namespace; "" stands for all.
func (c *caller) seesPods(ctx context.Context, namespace string) (bool, error) {
	return c.may(ctx, "get", "", "pods", namespace)
}

// namespaces are those that an answer may be about: those asked for, or all that the caller may see. Nil stands for all
// that there are.
func (c *caller) namespaces(ctx context.Context, asked []string, known func(context.Context) ([]string, error)) ([]string, error) {
	if len(asked) > maxNamespaces {
		return nil, badRequest("namespace: want at most %d, found %d", maxNamespaces, len(asked))
	}
	everywhere, err := c.seesPods(ctx, "")
	if err != nil {
		return nil, err
	}
	if everywhere {
		return asked, nil
	}
	for _, namespace := range asked {
		ok, err := c.seesPods(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, &problem{http.StatusForbidden, fmt.Sprintf("user %s may not get pods in namespace %s", c.user.GetName(), namespace)}
		}
	}
	if len(asked) > 0 {
		return asked, nil
	}
	return c.discover(ctx, known)
}

// discover finds the namespaces that somebody may see who may not see all.
func (c *caller) discover(ctx context.Context, known func(context.Context) ([]string, error)) ([]string, error) {
	names, err := known(ctx)
	if err != nil {
		return nil, err
	}
	allowed := []string{}
	for _, name := range names[:min(len(names), maxAsked)] {
		ok, err := c.seesPods(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			allowed = append(allowed, name)
		}
	}
	if len(allowed) == 0 || len(names) > maxAsked || len(allowed) > maxNamespaces {
		text := fmt.Sprintf("user %s may not get pods in all namespaces: name one (?namespace=NAME)", c.user.GetName())
		return nil, &problem{http.StatusForbidden, text}
	}
	return allowed, nil
}

// must is for what is about no pod.
func (c *caller) must(ctx context.Context, verb, group, resource string) error {
	ok, err := c.may(ctx, verb, group, resource, "")
	if err == nil && !ok {
		err = &problem{http.StatusForbidden, fmt.Sprintf("user %s may not %s %s", c.user.GetName(), verb, resource)}
	}
	return err
}

// problem is an error that the caller is told.
type problem struct {
	status int
	text   string
}

// Error implements error.
func (p *problem) Error() string { return p.text }

func badRequest(format string, args ...any) error {
	return &problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func asProblem(err error) (*problem, bool) {
	var p *problem
	return p, errors.As(err, &p)
}
