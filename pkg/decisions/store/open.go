package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

const (
	// readers bounds the connections that answer questions. SQLite reads in parallel under WAL, on as many processors
	// as there are; PostgreSQL shares its connections with others.
	readers = 8
	// busyTimeout is how long SQLite waits for a lock of another process, such as a backup.
	busyTimeout = 10 * time.Second
	// pageCacheKiB is SQLite's page cache of each connection.
	pageCacheKiB = 16 << 10
	idleTime     = 5 * time.Minute
)

// Store is a database of decisions. It is safe for concurrent use.
type Store struct {
	// write is one connection on SQLite, which has one writer at a time anyway: waiting here is in order, while SQLite's
	// own waiting is by chance.
	write, read *sql.DB
	sqlite      bool
}

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens the database, creates it if need be, and brings its schema up to date. The address is a path of a file for
// SQLite, whose folder exists, or "postgres://user@host/database?..." as libpq knows it. Close closes what Open returns.
func Open(ctx context.Context, address string) (*Store, error) {
	s, err := connect(address)
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("bringing the schema of %s up to date: %w", redact(address), err), s.Close())
	}
	return s, nil
}

func connect(address string) (*Store, error) {
	if strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://") {
		db, err := sql.Open("pgx", address)
		if err != nil {
			return nil, fmt.Errorf("opening %s: %w", redact(address), err)
		}
		db.SetMaxOpenConns(readers)
		db.SetMaxIdleConns(readers)
		db.SetConnMaxIdleTime(idleTime)
		return &Store{write: db, read: db}, nil
	}
	if scheme, _, found := strings.Cut(address, "://"); found {
		return nil, fmt.Errorf("want a path of a file or postgres://..., found an address that begins with %s://", scheme)
	}
	if address == "" {
		return nil, errors.New("want a path of a file or postgres://..., found nothing")
	}
	path, err := filepath.Abs(address)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", address, err)
	}
	write, err := sql.Open("sqlite", sqliteName(path, false))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite", sqliteName(path, true))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), write.Close())
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	return &Store{write: write, read: read, sqlite: true}, nil
}

// sqliteName is the data source name of a connection. Writers lock when their transaction begins: one that begins by
// reading could find at its first write that another process has been faster, and would have to start over.
func sqliteName(path string, readOnly bool) string {
	query := url.Values{}
	for _, pragma := range []string{
		"busy_timeout(" + strconv.FormatInt(busyTimeout.Milliseconds(), 10) + ")",
		"journal_mode(WAL)",
		"synchronous(FULL)",
		"cache_size(-" + strconv.Itoa(pageCacheKiB) + ")",
		"temp_store(MEMORY)",
		"journal_size_limit(67108864)",
	} {
		query.Add("_pragma", pragma)
	}
	if readOnly {
		query.Add("_pragma", "query_only(1)")
	} else {
		query.Set("_txlock", "immediate")
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// migrate runs the migrations that the database has not seen.
func (s *Store) migrate(ctx context.Context) error {
	dialect := goose.DialectPostgres
	if s.sqlite {
		dialect = goose.DialectSQLite3
	}
	steps, err := s.steps()
	if err != nil {
		return err
	}
	options := []goose.ProviderOption{goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true)}
	if !s.sqlite {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return fmt.Errorf("preparing the lock: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(dialect, s.write, nil, options...)
	if err != nil {
		return fmt.Errorf("preparing the migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("running the migrations: %w", err)
	}
	return nil
}

// steps are the embedded files, in the words of the database at hand.
func (s *Store) steps() ([]*goose.Migration, error) {
	identity := "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
	if s.sqlite {
		identity = "INTEGER PRIMARY KEY AUTOINCREMENT"
	}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("listing the migrations: %w", err)
	}
	var steps []*goose.Migration
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err != nil {
			return nil, fmt.Errorf("the name of migration %s: %w", file, err)
		}
		text, err := fs.ReadFile(migrations, file)
		if err != nil {
			return nil, fmt.Errorf("reading migration %s: %w", file, err)
		}
		script := strings.ReplaceAll(string(text), "@IDENTITY@", identity)
		steps = append(steps, goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, script)
			return err
		}}, nil))
	}
	return steps, nil
}

// Ping returns an error if the database does not answer.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.read.PingContext(ctx); err != nil {
		return fmt.Errorf("the database does not answer: %w", err)
	}
	return nil
}

// Close closes the connections.
func (s *Store) Close() error {
	err := s.write.Close()
	if s.sqlite {
		err = errors.Join(err, s.read.Close())
	}
	return err
}

// redact leaves out the password of an address.
func redact(address string) string {
	if u, err := url.Parse(address); err == nil && u.Scheme != "" {
		return u.Redacted()
	}
	return address
}
