package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
)

// pluginName is the name under which kubectl finds the command line as `kubectl vicinity`.
const pluginName = "kubectl-vicinity"

// newRootCommand builds the command line as it is called by the program's name.
func newRootCommand(program string) *cobra.Command {
	root := &cobra.Command{
		Use:   "vicinity",
		Short: "Try out and inspect Vicinity, the scheduler that places pods near their data",
		Long: "Try out and inspect Vicinity, the scheduler that places pods near their data.\n\n" +
			"Installed as " + pluginName + " on the PATH it is a kubectl plugin as well: kubectl vicinity version.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	if program == pluginName {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl vicinity"}
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		newControlPlaneCommand(),
		newDatasetsCommand(),
		newDemoCommand(),
		newDiskCommand(),
		newExplainCommand(),
		newModelCommand(),
		newNotifyCommand(),
		newOccupancyCommand(),
		newRTTCommand(),
		newSimulateCommand(),
		newTraceCommand(),
		newTrainCommand(),
		newUpCommand(),
		newVersionCommand(),
	)
	return root
}

// kubectlFor returns how a user of this folder can call kubectl: the one beside vicinity, else the built one.
func kubectlFor(built string) string { return shorten(localstack.KubectlBeside(built)) }

// shorten makes a path relative to the working folder if that is shorter.
func shorten(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	relative, err := filepath.Rel(here, path)
	if err != nil || len(relative) >= len(path) {
		return path
	}
	return relative
}

// writePrivateFile writes a file that only this user can read, and the folder that holds it.
func writePrivateFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("creating the folder of %s: %w", path, err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	// An older file keeps its permissions when it is written over.
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("protecting %s: %w", path, err)
	}
	return nil
}

// writeKubeconfig writes the file and returns a function that removes it again, and its folder if that is empty then. A
// file that somebody else has written meanwhile stays.
func writeKubeconfig(path string, content []byte, errOut io.Writer) (remove func(), err error) {
	if err := writePrivateFile(path, content); err != nil {
		return nil, err
	}
	return func() {
		found, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(found, content) {
			return
		}
		if err := errors.Join(err, os.Remove(path)); err != nil {
			fmt.Fprintf(errOut, "removing the kubeconfig: %v\n", err)
			return
		}
		_ = os.Remove(filepath.Dir(path)) // fails when the user keeps other files there, which is fine
	}, nil
}
