// Package storetest gives tests and benchmarks of the sniffer service real databases: SQLite in a file, and PostgreSQL in
// a server that it starts itself, in a folder of its own and on a Unix socket, so that nothing has to be set up and nothing
// of the machine's own databases is touched. It makes records, too.
//
// PostgreSQL's programs come with the distribution (Debian: package postgresql). They refuse to run as root, so a test that
// runs as root hands the server to the user nobody.
//
// Only tests import this package.
package storetest
