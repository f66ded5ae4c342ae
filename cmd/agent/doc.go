// Command vicinity-agent measures the node that it runs on. See package agent.
package main
