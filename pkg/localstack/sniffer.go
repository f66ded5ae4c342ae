package localstack

import "path/filepath"

// snifferPlugin is the scheduler plugin that records decisions.
const snifferPlugin = "Sniffer"

// RecordsFile is the file of JSON lines that the scheduler records its decisions in, unless its configuration says
// otherwise.
func (s *Stack) RecordsFile() string { return filepath.Join(s.dir, "decisions.jsonl") }

// LiveSocket is the socket on which the scheduler serves its latest records.
func (s *Stack) LiveSocket() string { return filepath.Join(s.dir, "live.sock") }

// IngestSocket is the socket on which the decision service takes records.
func (s *Stack) IngestSocket() string { return filepath.Join(s.dir, "sniffer.sock") }

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

// SetSinks makes plugin Sniffer record to the given sinks in each profile that has the plugin and names none.
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
		if !named(multiPoint["enabled"], snifferPlugin) {
			continue
		}
		args := map[string]any{}
		for _, entry := range listOfMaps(profile["pluginConfig"]) {
			if entry["name"] == snifferPlugin {
				args, _ = entry["args"].(map[string]any)
			}
		}
		if args["sinks"] == nil {
			withSinks := map[string]any{"sinks": sinks}
			for key, value := range args {
				withSinks[key] = value
			}
			setArgs(profile, snifferPlugin, withSinks)
		}
	}
	return nil
}

func named(list any, name string) bool {
	for _, entry := range listOfMaps(list) {
		if entry["name"] == name {
			return true
		}
	}
	return false
}
