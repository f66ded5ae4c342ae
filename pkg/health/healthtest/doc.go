// Package healthtest asks HTTP endpoints in tests. It is for tests only.
package healthtest
