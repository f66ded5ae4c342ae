package daemon

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/component-base/term"
	"k8s.io/klog/v2"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/vicinity-scheduler/vicinity/pkg/version"
)

// Program is a long-running program. All fields are required.
type Program struct {
	// Name is the file name of the program.
	Name string
	// Description says what the program does, in whole sentences.
	Description string
	// AddFlags adds the flags that are the program's own.
	AddFlags func(*pflag.FlagSet)
	// Validate checks the values of these flags. Its error names the flag.
	Validate func() error
	// Run is the program. It returns nil soon after ctx has ended.
	Run func(ctx context.Context) error
}

// Main runs the program with the command line of the process and returns the exit code.
func (p Program) Main() int {
	return cli.Run(p.Command())
}

// Command returns the program as a command for cli.Run, which adds the handling of errors.
func (p Program) Command() *cobra.Command {
	logging := logsapi.NewLoggingConfiguration()
	cmd := &cobra.Command{
		Use:  p.Name,
		Long: p.Description,
		// A wrong command line is to be reported before logging starts, as plain text. Of what cobra runs
		// before that, this is where the values of the flags are known.
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.NoArgs(cmd, args); err != nil {
				return err
			}
			return p.Validate()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := logsapi.ValidateAndApply(logging, nil); err != nil {
				return err
			}
			return p.run(cmd.Context())
		},
		Version: version.String(),
	}
	cmd.SetVersionTemplate(version.Line(p.Name) + "\n")

	var sections cliflag.NamedFlagSets
	p.AddFlags(sections.FlagSet(p.Name))
	logsapi.AddFlags(logging, sections.FlagSet("logging"))
	global := sections.FlagSet("global")
	global.BoolP("help", "h", false, "print this help and exit")
	// Declared here because cobra would take -v for it, which is the verbosity of the log.
	global.Bool("version", false, "print the version and exit")
	for _, name := range sections.Order {
		cmd.Flags().AddFlagSet(sections.FlagSets[name])
	}
	columns, _, err := term.TerminalSize(cmd.OutOrStdout())
	if err != nil {
		columns = 0 // not a terminal: do not wrap
	}
	cliflag.SetUsageAndHelpFunc(cmd, sections, columns)
	return cmd
}

func (p Program) run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	crlog.SetLogger(logger)

	ctx, stop := signal.NotifyContext(klog.NewContext(ctx, logger), os.Interrupt, syscall.SIGTERM)
	defer stop()
	stopping := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(stopping)
		logger.Info("Stopping", "reason", context.Cause(ctx))
		// From the first signal on, signals have their usual effect again: the second one kills.
		stop()
	})

	logger.Info("Starting", "program", p.Name, "version", version.String())
	err := p.Run(ctx)
	if !forget() {
		<-stopping // or the process might end before the reason is logged
	}
	if err == nil {
		logger.Info("Stopped")
	}
	return err
}
