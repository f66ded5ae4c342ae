// Package ingest takes decision records and events over gRPC and stores them.
//
// It serves two services of apis/trace/v1. DecisionService/Ingest is a stream of batches, acknowledged by number once they
// are stored: batches that have arrived while others were being stored go into the database together, so that a client
// that sends ahead pays for one transaction where a client that waits pays for many. The predecessor's /api.SnifferService/Send
// takes one event a call and answers once it is stored; calls that come at the same time share a transaction too.
//
// A record that is invalid, or of a newer version, is refused with its reason and counted, and does not keep those beside
// it from being stored. If the database fails, nothing is acknowledged and the stream ends with Unavailable, so that the
// client keeps what it has and tries again. What waits is bounded: a client that sends faster than the database stores is
// slowed down by gRPC's flow control.
//
// Whoever can connect can write. So a listener is a Unix socket, a loopback address, or takes mutual TLS; the predecessor's
// clients know no TLS, and have a listener of their own that serves their service only, and that is off by default.
package ingest
