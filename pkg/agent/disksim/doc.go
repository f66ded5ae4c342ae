// Package disksim reads disks that the agent is to report instead of those of its machine, for tests and demonstrations
// (vicinity-agent --simulate-devices).
package disksim
