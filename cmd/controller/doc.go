// Command vicinity-controller runs Vicinity's reconcilers. See package controller.
package main
