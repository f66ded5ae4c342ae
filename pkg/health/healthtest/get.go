package healthtest

import (
	"io"
	"net/http"
	"testing"
	"time"
)

// patience bounds every wait, for machines under heavy load.
const patience = 60 * time.Second

// Get returns the status and the body of the answer to a GET of the URL. It fails the test if there is no answer.
func Get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	status, body, err := Do(t, http.MethodGet, url)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

// AwaitOK waits until a GET of the URL is answered with 200 and returns the body. It fails the test if that takes more
// than a minute.
func AwaitOK(t *testing.T, url string) string {
	t.Helper()
	var (
		status int
		body   string
		err    error
	)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if status, body, err = Do(t, http.MethodGet, url); err == nil && status == http.StatusOK {
			return body
		}
	}
	t.Fatalf("GET %s is not answered with 200 within %s: status %d, error %v\n%s", url, patience, status, err, body)
	return ""
}

// Do returns the status and the body of the answer to a request without a body. It uses a connection of its own, so
// that nothing of it is left when it returns.
func Do(t *testing.T, method, url string) (status int, body string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}
