// Package explain puts a decision record into words: why a pod is where it is or why it is nowhere, why it is not on a
// certain node, and what would change that.
//
// It says what the record proves and no more. Filters stop at a node's first rejection, so what comes after that is not
// known; nodes that nobody looked at are called so; of counted nodes only samples have names. Advice names what the
// plugin in the way looks at, in its users' terms; plugins that this package does not know get none.
//
// The package is arithmetic on plain values, used by the service and by the command line.
package explain
