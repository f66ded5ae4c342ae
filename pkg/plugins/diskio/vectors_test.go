package diskio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// TestIntegrationCasesOfThePredecessor: its two nodes, A with 1000/1000/2000 MiB/s and B with a tenth of that, under
// LeastAllocated. Pods come one after the other; each goes to the node with the best score.
func TestIntegrationCasesOfThePredecessor(t *testing.T) {
	a, b := oneDisk(supply(1000, 1000, 2000)), oneDisk(supply(100, 100, 200))
	const small = `{"rbps":"30Mi","wbps":"20Mi","blockSize":"4k"}`
	cases := map[string]struct {
		disks map[string]*blockio.Node
		pods  []string // annotations; "-" is none
		want  []string // nodes; "" is pending, "A or B" is a tie
	}{
		// A: 100 x (1 - (30/1000 + 20/1000)/2) = 97, then 100 x (1 - (30/970 + 20/980)/2) = 97; B: 75.
		"1: two small pods go to the large disk": {
			disks: map[string]*blockio.Node{"A": a, "B": b}, pods: []string{small, small}, want: []string{"A", "A"},
		},
		"2: pods that do not ask leave the only known disk alone": {
			disks: map[string]*blockio.Node{"A": a}, pods: []string{"-", "-"}, want: []string{"B", "B"},
		},
		// The minimum of 5/5 gives 99 on A and 95 on B. The predecessor's test takes either.
		"3: pods that do not ask, both disks known": {
			disks: map[string]*blockio.Node{"A": a, "B": b}, pods: []string{"-", "-"}, want: []string{"A", "A"},
		},
		"4: more than any disk can do": {
			disks: map[string]*blockio.Node{"A": a, "B": b},
			pods:  []string{`{"rbps":"2000Mi","wbps":"2000Mi"}`, `{"rbps":"3000Mi","wbps":"2000Mi"}`}, want: []string{"", ""},
		},
		"5: all of the large disk, in blocks of 512, and more than that": {
			disks: map[string]*blockio.Node{"A": a, "B": b},
			pods:  []string{`{"rbps":"1000Mi","wbps":"1000Mi","blockSize":"512"}`, `{"rbps":"3000Mi","wbps":"2000Mi"}`},
			want:  []string{"A", ""},
		},
		"6: no disk is known": {pods: []string{small, small}, want: []string{"", ""}},
		"its README: the second of two pods of 900/900 is pending": {
			disks: map[string]*blockio.Node{"A": a}, pods: []string{most, most}, want: []string{"A", ""},
		},
		"an empty annotation wants a known disk": {
			disks: map[string]*blockio.Node{"A": a}, pods: []string{""}, want: []string{"A"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			c := newCluster(ctx, t, configv1.DiskIOArgs{}, nil, tc.disks)
			on, got := map[string][]*corev1.Pod{}, []string{}
			for i, annotation := range tc.pods {
				pod, chosen, best := asking(strings.Repeat("p", i+1), annotation), "", int64(-1)
				for _, name := range []string{"A", "B"} {
					if reason, score := c.try(ctx, t, pod, node(name, on[name]...)); reason == "" && score > best {
						chosen, best = name, score
					}
				}
				if chosen != "" {
					on[chosen] = append(on[chosen], pod)
				}
				got = append(got, chosen)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}
