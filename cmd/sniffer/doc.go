// Command vicinity-sniffer is the service for the scheduler's decisions. See package decisions.
package main
