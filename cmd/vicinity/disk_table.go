package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

func writeDisks(out io.Writer, format string, list diskList) error {
	if format == "json" || format == "yaml" {
		return writeObject(out, format, list)
	}
	header, rows := "NODE\tDISK\tDEFAULT\tCAPACITY(R/W/TOTAL)\tREQUESTED\tMEASURED\tFREE\tIOPS\tAGE\tPODS", diskRow
	if format == "wide" {
		header, rows = "NODE\tDISK\tDEFAULT\tMODEL\tCAPACITY(R/W/TOTAL)\tFREE\tNAMESPACE\tPOD\tTAKES\tIOPS\tIN-REPORT", podRows
	}
	var all [][]string
	for i := range list.Items {
		for j := range list.Items[i].Disks {
			all = append(all, rows(list.Items[i].Node, &list.Items[i].Disks[j])...)
		}
	}
	return writeTable(out, header, all)
}

// diskRow is the one row of a disk in the short table.
func diskRow(node string, d *diskView) [][]string {
	measured := none
	if d.Report.Free != nil {
		measured = d.Report.Free.cell()
	}
	return [][]string{{
		node, d.ID, yesNo(d.Default), d.Capacity.cell(), d.Requested.cell(), measured, d.Free.cell(), iopsCell(d),
		reportAge(&d.Report), strconv.Itoa(len(d.Pods)),
	}}
}

// podRows has a row for each pod, and one for a disk that no pod uses.
func podRows(node string, d *diskView) [][]string {
	disk := []string{node, d.ID, yesNo(d.Default), d.RequestModel, d.Capacity.cell(), d.Free.cell()}
	if len(d.Pods) == 0 {
		return [][]string{append(disk, none, none, none, none, none)}
	}
	rows := make([][]string, 0, len(d.Pods))
	for i := range d.Pods {
		pod := &d.Pods[i]
		inReport := notApplicable
		if d.Report.State != "None" {
			inReport = yesNo(pod.InReport)
		}
		rows = append(rows, append(slices.Clip(disk),
			pod.Namespace, pod.Name, pod.Requested.cell(), pod.Requested.iops(), inReport))
	}
	return rows
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// cell shows reading, writing and both at once.
func (r *rates) cell() string {
	return humanBytes(r.ReadBytesPerSecond) + "/" + humanBytes(r.WriteBytesPerSecond) + "/" + humanBytes(r.TotalBytesPerSecond)
}

// iops shows operations per second, reading and writing.
func (r *rates) iops() string {
	if r.ReadIOPS == nil || r.WriteIOPS == nil {
		return notApplicable
	}
	return fmt.Sprintf("%d/%d", *r.ReadIOPS, *r.WriteIOPS)
}

// iopsCell shows the operations per second that are free, and of how many.
func iopsCell(d *diskView) string {
	if d.Capacity.ReadIOPS == nil {
		return d.Free.iops() // which a report may know all the same
	}
	return d.Free.iops() + " of " + d.Capacity.iops()
}

func reportAge(r *reportView) string {
	switch {
	case r.State == "None":
		return none
	case r.AgeSeconds == nil:
		return unknown
	}
	age := duration.HumanDuration(time.Duration(*r.AgeSeconds * float64(time.Second)))
	if r.State == "Stale" {
		age += " (stale)"
	}
	return age
}
