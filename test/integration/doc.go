// Package integration holds the tests that need a real control plane and more than one package: that the API server
// refuses what our schemas call impossible, and that the scheduler tries pods again when it should and only then. They
// run real programs as children, and are left out with -short.
package integration
