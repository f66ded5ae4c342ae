package framework_test

import (
	"os"
	"testing"

	"github.com/vicinity-scheduler/vicinity/apis/config/scheme"
)

func TestMain(m *testing.M) {
	scheme.Install()
	os.Exit(m.Run())
}
