// Package report is what the agent's collectors have in common when they tell the API server what they found: one object
// a node, which the Node owns ([Store]), and when it is written ([Schedule]).
//
// Objects are written by server-side apply with field manager vicinity-agent, by force: nobody else knows what is on this
// node. No discovery is used, and nothing is watched: thousands of agents that start at once would each ask for all that
// the API server has.
package report
