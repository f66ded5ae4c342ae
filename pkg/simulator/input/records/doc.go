// Package records reads decision records (pkg/trace, one JSON object a line), to play the same pods again under other
// configurations.
//
// A record says when a pod came and where it went, and not what it asked for: requests come from manifests or a
// snapshot of the cluster. Of a record only the fields are read that this needs, so that records of newer writers can be
// read as long as their version is the same.
//
// Gaps in the numbers of a session are decisions that the recorder dropped. They are counted and shown, because a replay
// cannot know what happened in them.
package records
