package localcluster

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStepShowsTheTimeALongStepTakes(t *testing.T) {
	errBroken := errors.New("broken")
	tests := []struct {
		name     string
		terminal bool
		takes    time.Duration
		err      error
		want     string
	}{
		{
			name: "a short step", takes: 1230 * time.Millisecond,
			want: "building x\nbuilt x in 1.2s\n",
		},
		{
			name: "a long step says every ten seconds that it is at work", takes: 81 * time.Second,
			want: "building x\nbuilding x 10s\nbuilding x 20s\nbuilding x 30s\nbuilding x 40s\n" +
				"building x 50s\nbuilding x 1m0s\nbuilding x 1m10s\nbuilding x 1m20s\nbuilt x in 1m21s\n",
		},
		{
			name: "a step that fails", takes: 15 * time.Second, err: errBroken,
			want: "building x\nbuilding x 10s\nbuilding x failed after 15s\n",
		},
		{
			name: "on a terminal one line is rewritten", terminal: true, takes: 2500 * time.Millisecond,
			want: "\r\033[Kbuilding x\r\033[Kbuilding x 1s\r\033[Kbuilding x 2s\r\033[Kbuilt x in 2.5s\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got bytes.Buffer
				r := newReporter(&got)
				if tt.terminal {
					r.terminal, r.interval = true, terminalInterval
				}
				err := r.step("building x", "built x", func() error {
					time.Sleep(tt.takes)
					return tt.err
				})
				if !errors.Is(err, tt.err) {
					t.Errorf("error %v, want %v", err, tt.err)
				}
				if diff := cmp.Diff(tt.want, got.String()); diff != "" {
					t.Errorf("progress (-want +got):\n%s", diff)
				}
			})
		})
	}
}
