package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
)

func newControlPlaneCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "controlplane",
		Short: "Manage the programs of the local control plane",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newControlPlaneBuildCommand())
	return cmd
}

func newControlPlaneBuildCommand() *cobra.Command {
	var kubectlOut string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the local control plane's programs into the user's cache",
		Long: "Build etcd, kube-apiserver, kube-controller-manager, kwok and kubectl from pinned Go modules into the user's cache,\n" +
			"where `up` and `demo` find them. They do this themselves when needed; the first time takes minutes.",
		Example: "  vicinity controlplane build\n  vicinity controlplane build --kubectl-out bin/kubectl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return buildControlPlane(cmd.Context(), kubectlOut, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&kubectlOut, "kubectl-out", "", "also put kubectl there, replacing what is there")
	return cmd
}

func buildControlPlane(ctx context.Context, kubectlOut string, out, errOut io.Writer) error {
	binaries, err := localcluster.Build(ctx, errOut)
	if err != nil {
		return err
	}
	if kubectlOut == "" {
		for _, path := range []string{binaries.Etcd, binaries.APIServer, binaries.ControllerManager, binaries.Kwok, binaries.Kubectl} {
			fmt.Fprintln(out, path)
		}
		return nil
	}
	return placeExecutable(binaries.Kubectl, kubectlOut)
}

// placeExecutable makes the program at from available at to: as a hard link, or as a copy on another file system. The
// new file appears at once, so that a program that runs from to is not disturbed.
func placeExecutable(from, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("creating the folder of %s: %w", to, err)
	}
	folder, err := os.MkdirTemp(filepath.Dir(to), ".vicinity-")
	if err != nil {
		return fmt.Errorf("placing %s: %w", to, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fresh := filepath.Join(folder, filepath.Base(to))
	if os.Link(from, fresh) != nil {
		if err := copyExecutable(from, fresh); err != nil {
			return fmt.Errorf("copying %s to %s: %w", from, to, err)
		}
	}
	if err := os.Rename(fresh, to); err != nil {
		return fmt.Errorf("placing %s: %w", to, err)
	}
	return nil
}

func copyExecutable(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}
