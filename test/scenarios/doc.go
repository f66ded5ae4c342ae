// Package scenarios holds the scenario files, one folder a plugin. README.md documents their format; pkg/scenario runs
// them.
package scenarios
