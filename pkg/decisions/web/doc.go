// Package web is the page of vicinity-sniffer: plain HTML, CSS and JavaScript modules, embedded, without a build step and
// without a request to anybody else. It shows what package api answers, with the token that its reader pastes in or that
// stands in the address behind #token=, which browsers do not send to servers; the token is kept for as long as the tab is
// open.
//
// Everything on the page that comes from a cluster is set as text, never as markup, and a Content-Security-Policy forbids
// scripts that are not these files. Lists are as long as a page of the API, heat maps are drawn on a canvas, so that a
// cluster of 5,000 nodes takes no more elements than one of five.
//
// Charts are drawn by uPlot (static/uplot.js, MIT licence beside it): 51 kB, no dependencies, draws 100,000 points in
// milliseconds; axes, legends and zooming would be some hundred lines of ours otherwise.
package web
