// Package rtt is the agent's collector that measures round-trip times to other nodes, and reports them as the status of the
// node's NodeRTT. docs/rtt.md tells administrators how to use it.
//
// # What is measured
//
// The list of targets, a file that the controller keeps (package targets), says which nodes there are, which of them and
// which external endpoints pods' bounds refer to, and the token of the echo. A node probes k others and every node that is
// referred to; so bounds are decided by measurements, and probes grow with nodes x (k + references), not with nodes squared.
//
// A round-trip time is always taken by one clock, that of the process that sent the probe: monotonic for UDP and TCP; for
// ICMP that of the library pro-bing, which is the wall clock, so that times that contradict the monotonic one are left
// out. Clocks of different nodes are never compared.
//
//   - ICMP echo is answered by kernels, needs no agent on the other side, and costs the least. It takes a group in sysctl
//     net.ipv4.ping_group_range, which container runtimes set, or the capability NET_RAW.
//   - UDP echo is answered by the other agent. It cannot tell an agent that is down from a path that is cut; readers know
//     that a node that nobody reaches is no proof of a cut path (package delay).
//   - Auto uses ICMP, and UDP for a target that leaves all of a round's ICMP unanswered while it answers the UDP echo.
//   - An endpoint with a port is measured by how long a TCP connection takes to be made or refused, one without by ICMP.
//     Endpoints come from annotations that users write, so they get three probes in a minute at most, fewer from each node
//     of a large cluster, never on loopback or link-local addresses, and nothing is sent on the connections.
//
// In each round a target gets its probes at a random time and in an irregular rhythm, and a rate limit is for all together.
// If it does not allow all targets, those that have waited longest come first.
//
// # What is reported
//
// Median, 99th percentile (of 20 answers or more) and loss of the last minutes. Two rounds in a row without an answer make
// a path count as cut: only what was lost since then counts, the loss is whole, and the last known times stay beside it. The
// first answer ends that at once. A path that is probed no longer, because the random peers changed, stays in the report
// for half an hour with its age. After a restart, the last report and the coordinate in it are taken up.
//
// A report is sent when a path appears, is cut or works again, when a median moves by reportThresholdPercent and 0.1 ms or
// a loss by 5 points, and when the heartbeat is due; never twice within 15 s, failed attempts included. It is written by
// server-side apply with field manager vicinity-agent; entries of other sources in the same object are left alone.
//
// # The echo
//
// Agents answer UDP packets that carry the token of the cluster's list (as an HMAC), and nothing else: a reply is exactly as
// long as the request, replies are never answered, and there is a rate limit, so that the echo is of no use to attack
// somebody. Whoever can read the list can use the echo; there is nothing else to gain. A request tells the sender's network
// coordinate and a reply the responder's, which is how the coordinates of Vivaldi (pkg/delay) travel; ICMP carries none, so
// that in ICMP mode one UDP packet a round goes out as well.
//
// # Metrics
//
//	vicinity_agent_rtt_probes_sent_total{method}    counter; method is icmp, udp or tcp
//	vicinity_agent_rtt_probes_lost_total{method}    counter
//	vicinity_agent_rtt_probe_faults_total           counter; targets that could not be probed for a reason on this node
//	vicinity_agent_rtt_coordinates_rejected_total   counter
//	vicinity_agent_rtt_targets{kind}                gauge; kind is node or endpoint
//	vicinity_agent_rtt_targets_cut{kind}            gauge; of these, those of which nothing is answered
//	vicinity_agent_rtt_targets_deferred             gauge; left out of the latest round by the rate limit
//	vicinity_agent_rtt_reports_total{reason}        counter; reason is start, change or heartbeat
//	vicinity_agent_rtt_echo_answered_total          counter
//	vicinity_agent_rtt_echo_dropped_total{reason}   counter; reason is rate, token, no_token or send
//
// The package must not import pkg/plugins, pkg/simulator or the kube-scheduler.
package rtt
