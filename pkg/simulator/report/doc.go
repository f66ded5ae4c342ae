// Package report shows what a simulation has found: as JSON, as the predecessor's CSV files and log lines, as a table
// for a terminal, and as one HTML page.
//
// JSON is a contract (schema vicinity.simulation/v1): fields are only added. CSV and log lines are the predecessor's, so
// that scripts made for it go on working; where its own parts disagree about a name, the lines carry both.
//
// The page holds everything it needs, its chart library (uPlot, MIT licence) included, and asks for nothing from
// anywhere. What it shows is computed here and not in the page, so that tests can see it.
//
// The package knows results and nothing of what makes them, so that anything may.
package report
