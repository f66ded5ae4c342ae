package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

// makeFolder creates the scenario's working folder unless it is there.
func (s *session) makeFolder() error {
	if s.dir != "" {
		return nil
	}
	dir, err := os.MkdirTemp(s.stack.Cluster.Dir(), "scenario-")
	if err != nil {
		return fmt.Errorf("creating the working folder: %w", err)
	}
	s.dir = dir
	return nil
}

// profile returns the scenario's profile with the working folder, which is made for it, in the place of format.Folder.
func (s *session) profile() (format.Profile, error) {
	profile := s.scenario.Profile
	if !profile.NamesFolder() {
		return profile, nil
	}
	if err := s.makeFolder(); err != nil {
		return format.Profile{}, err
	}
	var placed format.Profile
	if err := json.Unmarshal([]byte(strings.ReplaceAll(profile.Key(), format.Folder, s.dir)), &placed); err != nil {
		return format.Profile{}, fmt.Errorf("putting the working folder into the profile: %w", err)
	}
	return placed, nil
}
