package scenario

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vicinity-scheduler/vicinity/pkg/trace"
)

// records are the decision records that the scheduler has written so far. The file is read on from where it was left.
type records struct {
	offset int64
	byPod  map[string][]any // by namespace/name: records in their JSON form
	seen   map[string]bool
	// twice is a decision that was recorded twice.
	twice string
}

// read takes what the scheduler has written since. A line that is not whole yet is left for the next time.
func (r *records) read(file string) error {
	in, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was decided yet
	}
	if err != nil {
		return fmt.Errorf("reading decision records: %w", err)
	}
	defer in.Close()
	if _, err := in.Seek(r.offset, io.SeekStart); err != nil {
		return fmt.Errorf("reading decision records: %w", err)
	}
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = r.add(line)
		}
		if err != nil {
			return fmt.Errorf("reading decision records, %s at byte %d: %w", file, r.offset, err)
		}
		r.offset += int64(len(line))
	}
}

func (r *records) add(line []byte) error {
	var record trace.Record
	if err := json.Unmarshal(line, &record); err != nil {
		return err
	}
	if err := record.Validate(); err != nil {
		return err
	}
	var plain any
	if err := json.Unmarshal(line, &plain); err != nil {
		return err
	}
	keys := []string{fmt.Sprintf("session %s, sequence %d", record.Session, record.Sequence)}
	if record.Kind == trace.KindAttempt && !record.Tentative {
		keys = append(keys, fmt.Sprintf("pod %s/%s, UID %s, attempt %d", record.Pod.Namespace, record.Pod.Name, record.Pod.UID, record.Attempt))
	}
	for _, key := range keys {
		if r.seen[key] {
			r.twice = key
		}
		r.seen[key] = true
	}
	name := record.Pod.Namespace + "/" + record.Pod.Name
	r.byPod[name] = append(r.byPod[name], plain)
	return nil
}

// lookForRecords compares the expectation with what the scheduler has recorded.
func (e expectation) lookForRecords(ctx context.Context, s *session) (verdict, error) {
	pods, err := s.pods(ctx)
	if err != nil {
		return verdict{}, err
	}
	if s.records == nil {
		s.records = &records{byPod: map[string][]any{}, seen: map[string]bool{}}
	}
	if err := s.records.read(s.stack.RecordsFile()); err != nil {
		return verdict{}, err
	}
	return e.judgeRecords(pods, s.scenario.Namespace(), s.records), nil
}

// judgeRecords compares the expectation with the records of the pods that it is about. A named pod may be gone by now.
func (e expectation) judgeRecords(all []corev1.Pod, namespace string, found *records) verdict {
	if found.twice != "" {
		return verdict{final: true, found: "a decision that was recorded twice: " + found.twice}
	}
	names := e.names()
	if len(e.Selector) > 0 {
		pods, missing := e.pick(all)
		if missing != "" {
			return verdict{found: missing}
		}
		names = nil
		for i := range pods {
			names = append(names, pods[i].Name)
		}
	}
	last := ""
	for _, name := range names {
		matching, others := 0, found.byPod[namespace+"/"+name]
		for _, record := range others {
			if has(record, e.Record.Contains) {
				matching++
				last = nodeOf(record)
			}
		}
		if matching == 0 || e.Record.Times > 0 && matching != e.Record.Times {
			return verdict{found: fmt.Sprintf("%d such records of pod %s among %d%s", matching, name, len(others), latest(others))}
		}
	}
	return verdict{met: true, found: "it", seen: observation{pod: subject(names), node: last, reason: e.Because}}
}

func nodeOf(record any) string {
	fields, _ := record.(map[string]any)
	node, _ := fields["node"].(string)
	return node
}

// latest shows the last of the records, for a message.
func latest(records []any) string {
	if len(records) == 0 {
		return ""
	}
	line, err := json.Marshal(records[len(records)-1])
	if err != nil {
		return ""
	}
	return ", the last one being " + string(line)
}

// has reports whether what was found has all that is wanted. Unlike in a status, a list needs the wanted entries only.
func has(found, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, ok := found.(map[string]any)
		for key, value := range wanted {
			if !ok || !has(fields[key], value) {
				return false
			}
		}
		return ok
	case []any:
		entries, ok := found.([]any)
		for _, value := range wanted {
			if !ok || !slices.ContainsFunc(entries, func(entry any) bool { return has(entry, value) }) {
				return false
			}
		}
		return ok
	}
	return fmt.Sprint(found) == fmt.Sprint(wanted)
}
