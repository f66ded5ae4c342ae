// Package format reads scenario files: ordered steps that lead a cluster to a state in which pods are expected to be
// somewhere. test/scenarios/README.md documents the format; package scenario runs what is read here.
//
// Decisions:
//
//   - A scenario's identity is "<plugin>/<name>": the plugin is the folder that holds the file, and `name` must be the
//     file's name, so that a line of output always leads to its file.
//   - Decoding is strict at every level. Each verb has one Go file with its own struct; an error names the file, the
//     step by its index from zero, the verb and the field, as in "x.yaml: steps[2].expect.node: ...".
//
// The package must not import a client or anything that runs scenarios: other programs read the same files, and the
// fuzz target is built with everything that is imported here.
package format
