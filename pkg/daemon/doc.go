// Package daemon is the command line that Vicinity's own long-running programs share: logging flags in the manner
// of the Kubernetes components, --version, --help in sections, signals and exit codes. With it a main function
// declares its flags and what to run, and nothing else.
//
// What a [Program] gets:
//
//   - Flags -v, --vmodule, --logging-format text|json and the others of k8s.io/component-base. Contextual logging is
//     on; the context of Run carries the logger, and controller-runtime logs to it too.
//   - SIGTERM and SIGINT end the context of Run; the signal is its cause. A second signal kills the process at once.
//   - Exit code 0 after Run returned nil, 1 otherwise. A wrong command line is told in plain text on standard error;
//     what goes wrong later is a log line.
//
// The scheduler is not a Program: kube-scheduler brings a command of its own. Neither is the command line tool
// vicinity, whose output is not a log.
//
// Only main packages import this package.
package daemon
