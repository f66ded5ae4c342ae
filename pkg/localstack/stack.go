package localstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vicinity-scheduler/vicinity/pkg/localcluster"
)

// stopTimeout bounds how long a component or a cluster may take to stop before it is killed.
const stopTimeout = 20 * time.Second

// Options say what a stack consists of.
type Options struct {
	// Name is shown in progress lines.
	Name string
	// Binaries are the control plane's programs.
	Binaries localcluster.Binaries
	// Locate finds the executable of a component, for instance vicinity-scheduler.
	Locate func(name string) (string, error)
	// ForeignCRDs are the sets of other projects' CRDs to install; see ForeignCRDSets.
	ForeignCRDs []string
	// Progress receives a line for each thing that takes time; nil is silent.
	Progress io.Writer
}

// Stack is a local control plane with Vicinity's manifests applied. Components are started on it by name.
type Stack struct {
	// Cluster is the control plane.
	Cluster *localcluster.Cluster
	// Kube is a client with all rights.
	Kube client.Client

	options   Options
	manifests []*unstructured.Unstructured
	dir       string

	mu         sync.Mutex
	components map[string]*component
	sniffer    snifferAddresses
}

// Start brings up a control plane and installs the CRDs and the manifests. On an error nothing is left running.
func Start(ctx context.Context, options Options) (_ *Stack, err error) {
	if options.Progress == nil {
		options.Progress = io.Discard
	}
	objects, err := installObjects()
	if err != nil {
		return nil, err
	}
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		Name:     options.Name,
		Binaries: options.Binaries,
		Progress: options.Progress,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the local control plane: %w", err)
	}
	s := &Stack{
		Cluster:    cluster,
		options:    options,
		manifests:  objects,
		dir:        filepath.Join(cluster.Dir(), "vicinity"),
		components: map[string]*component{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop(ctx))
		}
	}()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder for configuration files: %w", err)
	}
	if s.Kube, err = newClient(cluster.AdminConfig()); err != nil {
		return nil, err
	}
	if err := s.install(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Stop ends the components and the control plane, also when ctx has ended already.
func (s *Stack) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	s.mu.Lock()
	names := make([]string, 0, len(s.components))
	for name := range s.components {
		names = append(names, name)
	}
	s.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(slices.Values(names)) {
		errs = append(errs, s.StopComponent(ctx, name))
	}
	return errors.Join(append(errs, s.Cluster.Stop(ctx))...)
}

func (s *Stack) progressf(format string, args ...any) {
	fmt.Fprintf(s.options.Progress, "%s: %s\n", s.options.Name, fmt.Sprintf(format, args...))
}
