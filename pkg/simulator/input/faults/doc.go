// Package faults collects what is wrong with users' files: each fault names the file, the line and the field, so that
// it can be mended without a search.
//
// Faults make an input unusable, warnings do not. Both are bounded: a file with ten thousand bad rows gives a screenful
// and the number of the rest.
//
// The package imports the standard library only, so that each reader of a format can use it.
package faults
