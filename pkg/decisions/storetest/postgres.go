package storetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// startPatience is for machines that do much else; a start takes a second.
const startPatience = time.Minute

// Server is a PostgreSQL server.
type Server struct {
	folder  string
	process *exec.Cmd
	log     bytes.Buffer
	created atomic.Int64
}

// Postgres starts a server, which ends with the test. Where PostgreSQL is not installed the test is skipped.
func Postgres(tb testing.TB) *Server {
	tb.Helper()
	programs, err := postgresPrograms()
	if err != nil {
		tb.Skipf("no PostgreSQL here (on Debian: apt-get install postgresql): %v", err)
	}
	// A socket's path has a hundred characters at most, which the folder of a test may exceed.
	folder, err := os.MkdirTemp("", "pg") //nolint:usetesting // for its short name
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := &Server{folder: folder}
	if err := s.start(tb.Context(), programs); err != nil {
		tb.Fatalf("starting PostgreSQL: %v\n%s", err, s.log.String())
	}
	tb.Cleanup(s.stop)
	return s
}

// postgresPrograms is the folder with initdb and postgres: of the newest version, where Debian keeps several.
func postgresPrograms() (string, error) {
	folders, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	slices.SortFunc(folders, func(a, b string) int { return version(b) - version(a) })
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, "initdb")); err == nil {
			return folder, nil
		}
	}
	path, err := exec.LookPath("initdb")
	return filepath.Dir(path), err
}

func version(folder string) int {
	number, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
	if err != nil {
		return 0
	}
	return number
}

// account is nobody for root, and nil for anybody else.
func account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("looking for the user that the server runs as: %w", err)
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func (s *Server) start(ctx context.Context, programs string) error {
	credential, err := account()
	if err != nil {
		return err
	}
	if credential != nil {
		if err := os.Chown(s.folder, int(credential.Uid), int(credential.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(s.folder, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "--pgdata="+data, "--username=test", "--auth=trust",
		"--no-sync", "--encoding=UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = &syscall.SysProcAttr{Credential: credential}, s.folder
	initdb.Stdout, initdb.Stderr = &s.log, &s.log
	if err := initdb.Run(); err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	s.process = exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-k", s.folder, "-c", "listen_addresses=",
		"-c", "max_connections=200")
	s.process.SysProcAttr = &syscall.SysProcAttr{Credential: credential, Pdeathsig: syscall.SIGQUIT}
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.folder, &s.log, &s.log
	if err := s.process.Start(); err != nil {
		return err
	}
	return s.await(ctx)
}

func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	db, err := sql.Open("pgx", s.address("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *Server) address(database string) string {
	query := url.Values{"host": {s.folder}, "user": {"test"}}
	return (&url.URL{Scheme: "postgres", Path: "/" + database, RawQuery: query.Encode()}).String()
}

// Database creates an empty database and returns its address.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("test%d", s.created.Add(1))
	db, err := sql.Open("pgx", s.address("postgres"))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(tb.Context(), "CREATE DATABASE "+name); err != nil {
		tb.Fatal(err)
	}
	return s.address(name)
}

// stop ends the server at once; its data is thrown away.
func (s *Server) stop() {
	_ = s.process.Process.Signal(syscall.SIGQUIT)
	_ = s.process.Wait()
}
