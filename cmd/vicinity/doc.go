// Command vicinity is Vicinity's command line, also usable as a kubectl plugin when it is installed as kubectl-vicinity.
// Each subcommand has its own file; what they do lives in pkg.
//
// Results go to stdout, progress and errors to stderr. A failure is one message and a non-zero exit status; usage is
// shown only when it is asked for.
package main
