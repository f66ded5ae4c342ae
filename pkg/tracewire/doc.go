// Package tracewire converts decision records between their plain values (pkg/trace) and their protobuf messages
// (apis/trace/v1). It stands apart from both: pkg/trace must not know protobuf, and API packages must not know pkg.
//
// Strings that are not UTF-8 would make a message impossible to encode; their bad bytes are replaced. Times keep
// nanoseconds and come back in UTC.
package tracewire
