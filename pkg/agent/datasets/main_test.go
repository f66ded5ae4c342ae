package datasets

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// asUser is set in the environment of a test process that is to give up root's rights.
const asUser = "VICINITY_TEST_AS_USER"

func TestMain(m *testing.M) {
	if user := os.Getenv(asUser); user != "" {
		if err := become(user); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// become makes the process, which is root's, that of a user without rights.
func become(user string) error {
	id, err := strconv.Atoi(user)
	if err != nil {
		return err
	}
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("setgroups: %w", err)
	}
	if err := syscall.Setgid(id); err != nil {
		return fmt.Errorf("setgid: %w", err)
	}
	if err := syscall.Setuid(id); err != nil {
		return fmt.Errorf("setuid: %w", err)
	}
	return nil
}
