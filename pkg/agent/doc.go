// Package agent is vicinity-agent: one process a node that measures the node and publishes what it finds.
//
// The measuring is done by collectors, each in a package of its own below this one. Here stands what they have
// in common: the [Collector] interface, the configuration file ([LoadConfiguration]), and the [Runner] that gives
// every enabled collector a goroutine, a schedule, a deadline, metrics and a place in the health checks. A
// collector is added to the agent by one [Builder] in cmd/agent; there is no registry.
//
// What the Runner promises:
//
//   - Collectors do not disturb each other. One that fails, hangs or panics is counted and logged; the others keep
//     their schedules.
//   - Rounds of one collector never overlap and never pile up: a round that takes longer than the interval makes
//     the following ones drop out, and they are counted.
//   - Nodes do not act in step. A first round starts after a random part of at most five seconds, later ones after
//     the interval varied by up to a tenth.
//   - GET /readyz is 200 once every collector has ended its first round, be it with a result or with an error: an
//     agent whose disk cannot be measured is as ready as it will ever be, and its metrics tell of the error.
//   - GET /healthz is 200 unless a round is still running long after its deadline (three times its timeout, and at
//     least one minute more than its timeout). Such a collector does not heed its context and only a restart helps.
//   - A stop takes at most the drain timeout: running rounds are cancelled, then the collectors are closed.
//
// Metrics, all labelled with the collector:
//
//	vicinity_agent_collector_rounds_total{result}              counter; result is success, error, timeout or panic
//	vicinity_agent_collector_missed_rounds_total               counter
//	vicinity_agent_collector_round_duration_seconds            histogram
//	vicinity_agent_collector_last_success_timestamp_seconds    gauge, seconds since 1970; 0 before the first success
//
// Time is taken from package time, not from an injected clock: a round's context must carry a real deadline, which
// network and file code inspects, and package testing/synctest makes all of it deterministic in tests. Collectors
// get the time as a parameter, randomness is a parameter too.
//
// The package must not import pkg/plugins, pkg/simulator or the kube-scheduler.
package agent
