package localstack

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readerName is the ServiceAccount whose token the decision service's page is opened with.
const readerName = "decision-reader"

// ReaderToken returns a token of somebody who may read everything, for the decision service, which takes no certificates.
func (s *Stack) ReaderToken(ctx context.Context) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: readerName}}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: readerName},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: readerName},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: readerName},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: Namespace, Name: readerName}},
	}
	for _, object := range []client.Object{account, role, binding} {
		if err := client.IgnoreAlreadyExists(s.Kube.Create(ctx, object)); err != nil {
			return "", fmt.Errorf("creating the reader of decisions: %w", err)
		}
	}
	request := &authenticationv1.TokenRequest{}
	if err := s.Kube.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("getting a token for the reader of decisions: %w", err)
	}
	return request.Status.Token, nil
}
