// Package goldpinger takes over what Goldpinger (github.com/bloomberg/goldpinger) measures between nodes, and writes it into
// their NodeRTT objects as entries of source Goldpinger or GoldpingerUDP. docs/rtt.md tells administrators how to use it.
//
// # How it is asked
//
//   - CheckAll: GET /check_all at one address, for which a Service will do. The pod that answers asks the others, so with
//     PING_NUMBER above 0 it asks some of them only; Check is for that.
//   - Check: GET /check at each Goldpinger pod. Pods that sharding has made passive answer 503, which is no error.
//   - Metrics: GET /metrics at each pod; the mean of the histogram goldpinger_peers_udp_rtt_s since the time before, else of
//     goldpinger_peers_response_time_s for call type ping. Only this resolves less than a millisecond.
//
// Pods are found by label: app.kubernetes.io/name=goldpinger, as its Helm chart has it, or app=goldpinger, as its README.
//
// # What the answers mean
//
//   - A ping that is OK without response-time-ms took less than a millisecond: whole milliseconds are told, and Go leaves a
//     0 out. It counts as 999 us, the longest that it can have been, so that a bound of 1 ms holds and none below.
//   - Of a ping that is not OK the time says when it failed. It is a probe without an answer, never a round-trip time.
//   - Keys are pod names, or node names with DISPLAY_NODENAME. A node is found by the name of the key if there is such a
//     node, else by HostIP, else by the pod's name. HostIP may be IPv6 although the specification says otherwise.
//   - Results are cached by Goldpinger: a ping is taken once, by its PingTime, which also is its age.
//   - An answer is an HTTP request's time. It is longer than the round-trip time, and the sources that measure better
//     are preferred by readers.
//
// Nothing that an answer says can do more than spoil the pairs of the pod that said it: bodies are bounded, times are held
// against what is possible, unknown nodes are left out, and each fault is counted.
//
// # What is kept
//
// Pings of a pair go through the window that the agents use (package window). An outage of Goldpinger takes nothing away:
// entries stay as they were written, with their age. After an hour without news a pair is dropped when its node is written
// next. A node is written on a change of 10 % and 1 ms, or of its reachability, but once in 15 s at most, and else every two
// minutes; entries of other sources in the object have other keys and other owners.
//
// On the API server it uses, beside what all reconcilers share:
//
//	nodes                            list, watch
//	pods                             list             in modes Check and Metrics
//	noderrts.vicinity.dev            get, create, patch
//	noderrts.vicinity.dev/status     patch
//
// Metrics:
//
//	vicinity_controller_goldpinger_errors_total{reason}    counter; reason is unreachable, status, too_large, malformed,
//	                                                       impossible, unknown_node or write
//	vicinity_controller_goldpinger_pings_total{result}     counter; result is answered or lost
//	vicinity_controller_goldpinger_last_success_timestamp_seconds    gauge, seconds since 1970; 0 before the first
package goldpinger
