// Package tracev1 is the protobuf form of decision records, the service that takes them as a stream, and the service of
// the predecessor (scheduler-sniffer, /api.SnifferService/Send), byte for byte.
//
// The messages of decision.proto mirror package pkg/trace, whose documentation says what each field means; package
// pkg/tracewire converts. Fields are added, never renumbered: a reader that meets a field it does not know keeps it.
package tracev1
