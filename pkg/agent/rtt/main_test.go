package rtt

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(hostEnv) != "" {
		os.Exit(hostMain())
	}
	goleak.VerifyTestMain(m)
}
