package localstack

import (
	"context"
	"path/filepath"
	"slices"
)

// snifferPlugin is the scheduler plugin that records decisions.
const snifferPlugin = "Sniffer"

// RecordsFile is the file of JSON lines that the scheduler records its decisions in, unless its configuration says
// otherwise.
func (s *Stack) RecordsFile() string { return filepath.Join(s.dir, "decisions.jsonl") }

// LiveSocket is the socket on which the scheduler serves its latest records.
func (s *Stack) LiveSocket() string { return filepath.Join(s.dir, "live.sock") }

// IngestSocket is the socket on which the decision service takes records.
func (s *Stack) IngestSocket() string { return filepath.Join(s.dir, "sniffer.sock") }

// SnifferURL is where the decision service answers questions and has its page.
func (s *Stack) SnifferURL() (string, error) {
	addresses, err := s.snifferAddresses()
	return "http://" + addresses.page, err
}

// SnifferLegacyAddress is where the decision service takes what the predecessor's clients send.
func (s *Stack) SnifferLegacyAddress() (string, error) {
	addresses, err := s.snifferAddresses()
	return addresses.legacy, err
}

// legacyAddressVariable stands in the scheduler's configuration for SnifferLegacyAddress.
const legacyAddressVariable = "$(SNIFFER_LEGACY_ADDRESS)"

// snifferAddresses are where a decision service of this stack listens. They are chosen once, so that the scheduler can be
// told before the service runs.
type snifferAddresses struct{ page, legacy string }

func (s *Stack) snifferAddresses() (snifferAddresses, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sniffer != (snifferAddresses{}) {
		return s.sniffer, nil
	}
	page, err := loopbackAddress()
	if err != nil {
		return snifferAddresses{}, err
	}
	legacy, err := loopbackAddress()
	if err != nil {
		return snifferAddresses{}, err
	}
	s.sniffer = snifferAddresses{page: page, legacy: legacy}
	return s.sniffer, nil
}

// StartSniffer starts the decision service with a database in the cluster's folder, and addresses on loopback.
func (s *Stack) StartSniffer(ctx context.Context) error {
	c, err := newComponent(Sniffer)
	if err != nil {
		return err
	}
	kubeconfig, err := s.writeKubeconfig(ctx, Sniffer)
	if err != nil {
		return err
	}
	addresses, err := s.snifferAddresses()
	if err != nil {
		return err
	}
	c.spec.Args = append(c.spec.Args, "--kubeconfig="+kubeconfig, "--database="+filepath.Join(s.dir, "decisions.db"),
		"--ingest-address=unix:"+s.IngestSocket(), "--http-address="+addresses.page, "--legacy-address="+addresses.legacy)
	return s.start(ctx, c)
}

// sinks are where the scheduler of a stack records to: a file for whoever looks, and the decision service, which may run
// or not.
func (s *Stack) sinks() map[string]any {
	return map[string]any{
		"file": map[string]any{"path": s.RecordsFile()},
		"live": map[string]any{"socket": s.LiveSocket()},
		"service": map[string]any{
			"address": "unix:" + s.IngestSocket(), "spoolDirectory": filepath.Join(s.dir, "spool"), "spoolMaxMiB": int64(256),
		},
	}
}

// SetSinks makes plugin Sniffer record to the given sinks too, in each profile that has the plugin. A sink that the
// profile's arguments name stays as it is.
func (c SchedulerConfig) SetSinks(sinks map[string]any) error {
	for _, profile := range listOfMaps(c.content["profiles"]) {
		plugins, err := child(profile, "plugins")
		if err != nil {
			return err
		}
		multiPoint, err := child(plugins, "multiPoint")
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(listOfMaps(multiPoint["enabled"]), isSniffer) {
			continue
		}
		args := map[string]any{}
		configured := listOfMaps(profile["pluginConfig"])
		if at := slices.IndexFunc(configured, isSniffer); at >= 0 {
			if args, err = child(configured[at], "args"); err != nil {
				return err
			}
		}
		given, err := child(args, "sinks")
		if err != nil {
			return err
		}
		for name, sink := range sinks {
			if _, named := given[name]; !named {
				given[name] = sink
			}
		}
		setArgs(profile, snifferPlugin, args)
	}
	return nil
}

func isSniffer(entry map[string]any) bool { return entry["name"] == snifferPlugin }
