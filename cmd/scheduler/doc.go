// Command vicinity-scheduler is kube-scheduler with Vicinity's plugins registered.
//
// Flags, configuration file, endpoints and behaviour are those of kube-scheduler; see command.go for why the
// command is put together here. Plugins and what they share are wired in plugins.go.
package main
