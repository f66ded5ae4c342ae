package main

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	tracev1 "github.com/vicinity-scheduler/vicinity/apis/trace/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/daemon/daemontest"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/store"
	"github.com/vicinity-scheduler/vicinity/pkg/decisions/storetest"
	"github.com/vicinity-scheduler/vicinity/pkg/trace"
	"github.com/vicinity-scheduler/vicinity/pkg/tracewire"
)

const (
	crashRecords = 4000
	crashBatch   = 40
	crashes      = 5
)

// sender sends records from 1 on as a scheduler does: ahead of the acknowledgements, and again what was not acknowledged
// when the service went away.
type sender struct {
	t            *testing.T
	acknowledged int // records
}

// send sends what is not acknowledged until everything is or the service goes away.
func (s *sender) send(ctx context.Context, socket string) {
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		s.t.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	stream, err := tracev1.NewDecisionServiceClient(conn).Ingest(ctx, grpc.WaitForReady(true))
	if err != nil {
		return
	}
	first := s.acknowledged
	go func() {
		batch := uint64(1)
		for n := first; n < crashRecords; n += crashBatch {
			request := &tracev1.IngestRequest{Batch: batch}
			for i := range crashBatch {
				request.Records = append(request.Records, tracewire.FromRecord(storetest.Bound("crash", n+i+1)))
			}
			if stream.Send(request) != nil {
				return
			}
			batch++
		}
		_ = stream.CloseSend() // a stream that is gone needs no closing
	}()
	for s.acknowledged < crashRecords {
		answer, err := stream.Recv()
		if err != nil {
			return
		}
		s.acknowledged = first + int(answer.GetAcknowledgedBatch())*crashBatch
	}
}

// TestKilledWhileItStores: the service is killed again and again while records pour in. Nothing that it acknowledged is
// missing at any time, and in the end each record is there once.
func TestKilledWhileItStores(t *testing.T) {
	folder := t.TempDir()
	database, socket := filepath.Join(folder, "db"), filepath.Join(folder, "s")
	random := rand.New(rand.NewPCG(1, 9))
	s := &sender{t: t}
	for round := 0; s.acknowledged < crashRecords; round++ {
		p := daemontest.Start(t, "--health-address=127.0.0.1:0", "--logging-format=json", "--standalone", "--database="+database, "--ingest-address=unix:"+socket)
		p.AwaitEndpoint("ingest")
		if round < crashes {
			time.AfterFunc(time.Duration(20+random.IntN(150))*time.Millisecond, func() { p.Signal(syscall.SIGKILL) })
		}
		s.send(t.Context(), socket)
		p.Signal(syscall.SIGKILL)
		p.Wait()
		if got := stored(t, database); got < s.acknowledged {
			t.Fatalf("round %d: %d records are stored, %d are acknowledged", round, got, s.acknowledged)
		} else {
			t.Logf("round %d: %d acknowledged, %d stored", round, s.acknowledged, got)
		}
	}
	if got := stored(t, database); got != crashRecords {
		t.Errorf("%d records, want %d", got, crashRecords)
	}
}

// stored counts the records in the database, and checks that the counts for charts agree with them.
func stored(t *testing.T, database string) int {
	t.Helper()
	db, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	rows, err := db.List(t.Context(), store.Filter{Limit: 10 * crashRecords})
	if err != nil {
		t.Fatal(err)
	}
	// The records are from the future, so they count at the time of their arrival.
	rates, err := db.Rates(t.Context(), time.Unix(1, 0), time.Now().Add(time.Hour), time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	var counted int64
	for _, rate := range rates {
		counted += rate.Count[trace.OutcomeBound]
	}
	if int(counted) != len(rows) {
		t.Errorf("charts count %d, the list has %d", counted, len(rows))
	}
	return len(rows)
}
