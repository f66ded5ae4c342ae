package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vicinity-scheduler/vicinity/pkg/simulator/report"
)

func sharedData(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("this test needs data that is no part of the project: %v", err)
	}
	return path
}

func placements(t *testing.T, args ...string) (report.Document, string) {
	t.Helper()
	stdout, stderr, err := execute(t, "vicinity", append([]string{"simulate", "-o", "json", "--placements"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	var document report.Document
	if err := json.Unmarshal([]byte(stdout), &document); err != nil {
		t.Fatal(err)
	}
	return document, stderr
}

func rows(t *testing.T, path string) [][]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

func TestSimulateGolden(t *testing.T) {
	golden, trace := sharedData(t, "simon-golden"), sharedData(t, "openb")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the golden input is written by a Python script, and there is no python3")
	}
	folder := t.TempDir()
	prepare := exec.CommandContext(t.Context(), python, filepath.Join(golden, "prepare.py"), trace, "default", "42", folder)
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("writing the input: %v\n%s", err, out)
	}
	fgd, err := os.ReadFile(filepath.Join(golden, "scheduler-config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	bestFit := strings.ReplaceAll(strings.Replace(string(fgd), "gpuSelMethod: FGDScore", "gpuSelMethod: best", 1), "FGDScore", "BestFitScore")
	for name, config := range map[string]string{"fgd": string(fgd), "bestfit": bestFit} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scheduler.yaml")
			if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			stdout, _, err := execute(t, "vicinity", "simulate", "-f", filepath.Join(folder, "cluster-config.yaml"), "-s", path, "-o", "json", "--placements")
			if err != nil {
				t.Fatal(err)
			}
			var document report.Document
			if err := json.Unmarshal([]byte(stdout), &document); err != nil {
				t.Fatal(err)
			}
			compareWithGolden(t, &document, rows(t, filepath.Join(golden, "default-42-"+name+"-placements.csv")))
			for _, row := range rows(t, filepath.Join(golden, "default-42-"+name+"-curve.csv")) {
				for _, point := range document.Allocation {
					if got := fmt.Sprintf("%.4f", point.Value); fmt.Sprint(point.ArrivedPercent) == row[0] && got != row[1] {
						t.Errorf("at %s %% arrived: want %s %% allocated, found %s", row[0], row[1], got)
					}
				}
			}
		})
	}
}

func compareWithGolden(t *testing.T, document *report.Document, want [][]string) {
	t.Helper()
	if len(document.Placements) != len(want) || document.Pods != len(want) {
		t.Fatalf("want %d pods, found %d and %d placements", len(want), document.Pods, len(document.Placements))
	}
	different := 0
	for i, placed := range document.Placements {
		node := ""
		if placed.Node != nil {
			node = *placed.Node
		}
		gpus := strings.Trim(strings.ReplaceAll(fmt.Sprint(placed.GPUs), " ", "-"), "[]")
		got := []string{fmt.Sprint(i), strings.TrimPrefix(placed.Pod, "paib-gpu/"), node, gpus}
		if !cmp.Equal(want[i], got) {
			if different++; different <= 5 {
				t.Errorf("want %q, found %q", want[i], got)
			}
		}
	}
	if different > 0 {
		t.Errorf("%d of %d placements are different", different, len(want))
	}
}
