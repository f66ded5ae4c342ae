// Package crds carries CRDs of other projects, so that tests and "vicinity up --crds" can install them. Each folder is
// one project and one name of that flag: datashim (both of its API groups) and fluid.
//
// They are written for this project from what is known of those APIs, not copied, and only as exact as Vicinity needs:
// names, groups and versions, the status subresource, and which unknown fields survive, because an API server prunes
// what a schema does not list.
package crds
