package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

const waitForTimeout = 30 * time.Second

func (s *session) waitFor(ctx context.Context, w *format.WaitFor) error {
	obj, err := s.object(w.Reference)
	if err != nil {
		return err
	}
	within := durationOr(w.Within, waitForTimeout)
	missing := ""
	done, err := poll(ctx, within, func(ctx context.Context) (bool, error) {
		now, err := s.missing(ctx, w, obj)
		if err != nil {
			return false, err
		}
		missing = now
		return missing == "", nil
	})
	if err == nil && !done {
		err = &unmetError{reason: fmt.Sprintf("%s %s within %s: %s", w.Kind, w.Name, within, missing)}
	}
	return err
}

// missing says what is not yet as wanted, or nothing.
func (s *session) missing(ctx context.Context, w *format.WaitFor, obj *unstructured.Unstructured) (string, error) {
	err := s.stack.Kube.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	switch gone := apierrors.IsNotFound(err) || meta.IsNoMatchError(err); {
	case gone && w.Gone:
		return "", nil
	case gone:
		return "want it to exist, found nothing", nil
	case err != nil:
		return "", err
	case w.Gone:
		return fmt.Sprintf("want it gone, found it with finalizers %q", obj.GetFinalizers()), nil
	case w.Condition != "":
		name, want, given := strings.Cut(w.Condition, "=")
		if !given {
			want = string(metav1.ConditionTrue)
		}
		if status := conditionStatus(obj, name); status != want {
			return fmt.Sprintf("want condition %s to be %s, found %q", name, want, status), nil
		}
	}
	if !contains(obj.Object, w.Contains) {
		return fmt.Sprintf("want %s, found status %s", asJSON(w.Contains), asJSON(obj.Object["status"])), nil
	}
	return "", nil
}

func conditionStatus(obj *unstructured.Unstructured, name string) string {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, entry := range conditions {
		if condition, ok := entry.(map[string]any); ok && condition["type"] == name {
			status, _ := condition["status"].(string)
			return status
		}
	}
	return ""
}

// contains says whether found has everything that want has: maps field by field, anything else by equality.
func contains(found, want any) bool {
	wantMap, ok := want.(map[string]any)
	if !ok {
		return reflect.DeepEqual(found, want)
	}
	foundMap, ok := found.(map[string]any)
	if !ok {
		return len(wantMap) == 0
	}
	for key, value := range wantMap {
		if got, ok := foundMap[key]; !ok || !contains(got, value) {
			return false
		}
	}
	return true
}

// asJSON shows a value in an error message.
func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
