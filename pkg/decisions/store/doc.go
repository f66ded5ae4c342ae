// Package store keeps what vicinity-sniffer is told: decisions of schedulers, what became of pods and nodes, and counts
// for charts. It runs on SQLite, in a file of the service's own, and on PostgreSQL, shared by several services.
//
// One schema, one set of statements and one test suite serve both. What differs is how a database is opened and how a
// column that counts up is declared, and nothing else. The dialect that both understand: $1 for parameters, ON CONFLICT,
// RETURNING, partial indexes. Migrations are run by github.com/pressly/goose: it knows which have run, runs each in a
// transaction, and holds a lock while several services start on one PostgreSQL; a version table of our own would have to
// learn the last of these.
//
// What is promised:
//
//   - A batch is stored whole or not at all, and is on disk when Save returns (SQLite: WAL with synchronous=FULL).
//   - A record is stored once, by its session and sequence. A session is one life of a scheduler; attempts begin at 1
//     again after a restart, so pod UID and attempt alone do not tell two records apart. They are what a record is found
//     by: an attempt, and the victims that were added to it later.
//   - Counts for charts are added in the transaction that stores their records, and for new records only. So they are
//     exact however often a record is sent.
//   - The state of a pod does not depend on the order in which its news arrive: decisions come late out of a spool while
//     the watcher has seen the pod run already.
//
// Times are nanoseconds since 1970. Records are in the order of the time at which their attempt ended by the scheduler's
// clock; one that lies more than maxAhead in the future of the service's clock, or has no time, takes the time of its
// arrival instead, since it would otherwise stand at the top of every list until that time has come.
//
// Rows are removed by age and by number (Retention). The package must not import the scheduler, and knows nothing of
// Kubernetes, HTTP or gRPC.
package store
