// Package daemontest runs the main function of a test's own package as a child process, with real flags, signals
// and exit codes. It is for tests only.
//
// The test binary is started again with an environment variable by which [Main], called by the package's TestMain,
// knows that it is to be the program and not the tests. Nothing has to be built beforehand.
package daemontest
