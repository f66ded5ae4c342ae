package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vicinity-scheduler/vicinity/pkg/version"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  vicinity version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version.Line("vicinity"))
			return err
		},
	}
}
