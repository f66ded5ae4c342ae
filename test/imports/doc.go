// Package imports holds the project's architecture as data, and the tests that fail when the code leaves it: which
// package may import which (the table in table.go), that each package says in a doc.go what it is for, that none is
// named after a drawer (util, common, helpers, types), and that files stay short.
//
// The table is the authority. A package that it does not know fails too: adding a part to the project starts with
// saying here what that part may know about. The linter's depguard only bans libraries that nobody should use.
//
// [Check] and the file checks are pure functions, tested with made-up packages that break each rule; the tests in
// imports_test.go feed them what go list and the working tree contain.
package imports
