// Package waiting puts rejected pods back into the scheduling queue when a custom resource changes that they wait
// for. The scheduler's own events cannot do that: they cannot be registered for resources that may be absent.
package waiting
