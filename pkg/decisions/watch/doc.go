// Package watch follows pods and nodes and stores what changes: when a pod was created, bound, when its containers ran and
// stopped, when it was deleted; which nodes there are. So no lifecycle hook is needed to know where a pod was and when.
//
// It writes one event for each real change: a phase that is new, a condition that became true, a deletion. Each has an
// identity made of the object's UID and what changed, so a restart of the service, a second service on the same database,
// or an informer that lists everything again adds nothing. The predecessor's watcher wrote everything it knew every ten
// seconds, under names that pods share with their successors.
//
// Handlers only take notes, in memory, and one goroutine stores them: a database that is slow or away delays nothing but
// the page. Of a pod's state only the latest is kept meanwhile, so this is bounded by the number of pods; events are bounded
// by maxNotes, beyond which they are dropped and counted. What was deleted while nobody watched is found when the informers
// have synchronised: pods in the database that the cluster no longer has.
//
// One database is for one cluster.
package watch
