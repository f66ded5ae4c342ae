// Package openb reads and writes the CSV files of the production GPU cluster trace that the fragmentation study was made
// on (Weng et al., "Beware of Fragmentation", USENIX ATC 2023; published by Alibaba as cluster-trace-gpu-v2023).
//
// Columns are found by name, so that files with more or fewer columns, as some of the study's variants have, can be read.
// Times are seconds since the start of the trace; they are read on demand only, because the study's experiments ignore
// them: its pods all arrive one after the other and stay.
//
// The package imports the standard library and the simulator's model only.
package openb
