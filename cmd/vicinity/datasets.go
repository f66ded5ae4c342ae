package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/locality"
)

// completionTimeout bounds how long a shell waits for the names of datasets after a tab.
const completionTimeout = 5 * time.Second

type datasetsOptions struct {
	connection    connectionOptions
	allNamespaces bool
	staleAfter    time.Duration
	sources       []string
	output        string
}

func newDatasetsCommand() *cobra.Command {
	var o datasetsOptions
	// The scheduler's own defaults, so that what is shown is what it sees.
	var defaults configv1.CacheAwareArgs
	configv1.SetDefaults_CacheAwareArgs(&defaults)
	cmd := &cobra.Command{
		Use:     "datasets [NAME...]",
		Aliases: []string{"dataset"},
		Short:   "Show where the bytes of datasets are, on which medium, and how old the news is",
		Long: "Show where the bytes of datasets are, as the scheduler's plugin CacheAware sees them: from Datashim, from Fluid and\n" +
			"from what Vicinity's agents count. The cluster is only read.\n\n" +
			"WHERE lists the places that count, those with the most bytes first, and how many places do not count; -o wide says\n" +
			"why not. CACHED is what the place with the most bytes holds. AGE is the age of the newest news, where the source\n" +
			"tells it. Bytes that are not known count as all of the dataset.",
		Example: "  # The datasets of the current namespace\n" +
			"  vicinity datasets\n\n" +
			"  # Every place of two datasets, and why the scheduler leaves some of them out\n" +
			"  vicinity datasets images labels -o wide\n\n" +
			"  # All namespaces, without asking Datashim and Fluid\n" +
			"  vicinity datasets -A --sources NodeDatasetCache\n\n" +
			"  # The names of datasets that no usable node holds\n" +
			"  vicinity datasets -o json | jq -r '.items[] | select(all(.replicas[]; .usable | not)) | .name'",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return o.completeNames(cmd.Context(), args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.connection.addFlags(cmd)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "show the datasets of all namespaces")
	flags.DurationVar(&o.staleAfter, "stale-after", defaults.StaleAfter.Duration,
		"age beyond which news no longer counts, as in CacheAware's arguments")
	flags.StringSliceVar(&o.sources, "sources", asStrings(defaults.Sources),
		"whom to believe, as in CacheAware's arguments; the first wins where no times decide")
	flags.StringVarP(&o.output, "output", "o", "", "wide (a row per place), json or yaml")
	mustComplete(cmd, "output", "wide", "json", "yaml")
	mustComplete(cmd, "sources", asStrings(defaults.Sources)...)
	return cmd
}

func asStrings[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = string(value)
	}
	return out
}

func (o *datasetsOptions) validate() error {
	var errs []error
	var defaults configv1.CacheAwareArgs
	configv1.SetDefaults_CacheAwareArgs(&defaults)
	errs = append(errs, known("--sources", o.sources, asStrings(defaults.Sources)))
	if len(o.sources) == 0 {
		errs = append(errs, fmt.Errorf("--sources: want at least one of %s, found none", strings.Join(asStrings(defaults.Sources), ", ")))
	}
	for i, name := range o.sources {
		if slices.Contains(o.sources[:i], name) {
			errs = append(errs, fmt.Errorf("--sources: want each source once, found %s twice", name))
		}
	}
	if o.output != "" {
		errs = append(errs, known("--output", []string{o.output}, []string{"wide", "json", "yaml"}))
	}
	if o.staleAfter <= 0 {
		errs = append(errs, fmt.Errorf("--stale-after: want a duration above zero, found %s", o.staleAfter))
	}
	if o.allNamespaces && o.connection.namespace != "" {
		errs = append(errs, errors.New("--namespace and --all-namespaces exclude each other"))
	}
	return errors.Join(errs...)
}

func (o *datasetsOptions) datasetSources() []configv1.DatasetSource {
	out := make([]configv1.DatasetSource, len(o.sources))
	for i, name := range o.sources {
		out[i] = configv1.DatasetSource(name)
	}
	return out
}

func (o *datasetsOptions) run(ctx context.Context, names []string, out, errOut io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	config, namespace, err := o.connection.load()
	if err != nil {
		return err
	}
	if o.allNamespaces {
		namespace = ""
	}
	cluster, err := readCluster(ctx, config, o.datasetSources(), errOut)
	if err != nil {
		return err
	}
	keys, missing := selectDatasets(cluster, namespace, names)
	list := describeDatasets(cluster, keys, time.Now(), o.staleAfter)
	if err := writeDatasets(out, o.output, list); err != nil {
		return err
	}
	for _, line := range cluster.malformed {
		fmt.Fprintf(errOut, "warning: %s\n", line)
	}
	if len(keys) == 0 && len(names) == 0 {
		fmt.Fprintln(errOut, nothingFound(namespace, cluster.notInstalled))
	}
	return notFound(missing, namespace, cluster.notInstalled)
}

// selectDatasets returns the keys to show: those of the namespace, or of all if it is empty, and of the names, or of
// all if there are none. missing are the names that no source knows.
func selectDatasets(cluster *clusterView, namespace string, names []string) (keys []locality.DatasetKey, missing []string) {
	found := map[string]bool{}
	for _, key := range cluster.keys() {
		if (namespace == "" || key.Namespace == namespace) && (len(names) == 0 || slices.Contains(names, key.Name)) {
			keys = append(keys, key)
			found[key.Name] = true
		}
	}
	for _, name := range names {
		key := locality.DatasetKey{Namespace: namespace, Name: name}
		switch {
		case found[name]:
		// A dataset of which there are only labels on nodes is in no list, but answers to its name.
		case namespace != "" && cluster.exists(key):
			keys = append(keys, key)
			found[name] = true
		default:
			missing = append(missing, name)
			found[name] = true // one complaint is enough
		}
	}
	slices.SortFunc(keys, locality.DatasetKey.Compare)
	return keys, missing
}

func nothingFound(namespace string, notInstalled []string) string {
	text := "No datasets found" + inNamespace(namespace) + "."
	if len(notInstalled) > 0 {
		text += " Not installed in this cluster: " + strings.Join(notInstalled, ", ") + "."
	}
	return text
}

func notFound(names []string, namespace string, notInstalled []string) error {
	if len(names) == 0 {
		return nil
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	text := "no source knows dataset " + strings.Join(quoted, " or ") + inNamespace(namespace)
	if len(notInstalled) > 0 {
		text += "; not installed in this cluster: " + strings.Join(notInstalled, ", ")
	}
	return errors.New(text)
}

func inNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// completeNames offers the datasets that can be named to the shell; nothing when the cluster does not answer soon.
func (o *datasetsOptions) completeNames(ctx context.Context, given []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	config, namespace, err := o.connection.load()
	if err != nil || o.validate() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cluster, err := readCluster(ctx, config, o.datasetSources(), io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names set
	for _, key := range cluster.keys() {
		if (o.allNamespaces || key.Namespace == namespace) && !slices.Contains(given, key.Name) {
			names.add(key.Name)
		}
	}
	return names.values, cobra.ShellCompDirectiveNoFileComp
}
