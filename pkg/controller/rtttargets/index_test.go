package rtttargets

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	vicinityv1alpha1 "github.com/vicinity-scheduler/vicinity/apis/vicinity/v1alpha1"
	"github.com/vicinity-scheduler/vicinity/pkg/delay/targets"
)

// pod makes a pod. Owner is "Kind/name" or empty, bounds is the annotation or empty.
func pod(namespace, name, node, owner, bounds string, labels map[string]string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name), Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node},
	}
	if kind, name, ok := cut(owner); ok {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, Controller: new(true)}}
	}
	if bounds != "" {
		p.Annotations = map[string]string{vicinityv1alpha1.DelayAnnotation: bounds}
	}
	return p
}

func cut(owner string) (kind, name string, ok bool) {
	for i := range owner {
		if owner[i] == '/' {
			return owner[:i], owner[i+1:], true
		}
	}
	return "", "", false
}

func TestWhatBoundsReferTo(t *testing.T) {
	db := pod("shop", "db-7d9f-x", "n4", "ReplicaSet/db-7d9f", "", map[string]string{"app": "db"})
	tests := []struct {
		name string
		pods []*corev1.Pod
		want references
	}{
		{name: "a pod without bounds refers to nothing", pods: []*corev1.Pod{db}, want: references{}},
		{
			name: "a label may mean a node, which need not exist yet",
			pods: []*corev1.Pod{pod("shop", "a", "", "", "", map[string]string{"delay_edge-1": "25"})},
			want: references{nodes: counts{"edge-1": 1}},
		},
		{
			name: "or a workload of the pod's namespace, by the name of its Deployment",
			pods: []*corev1.Pod{db, pod("shop", "a", "", "", "", map[string]string{"delay_db": "2.5"})},
			want: references{nodes: counts{"db": 1, "n4": 1}},
		},
		{
			name: "or of another namespace, named with it",
			pods: []*corev1.Pod{db, pod("web", "a", "", "", "", map[string]string{"delay_shop.db": "2.5", "delay_db": "3"})},
			want: references{nodes: counts{"shop.db": 1, "db": 1, "n4": 1}},
		},
		{
			name: "never by a part of a name",
			pods: []*corev1.Pod{db, pod("shop", "a", "", "", "", map[string]string{"delay_d": "1"})},
			want: references{nodes: counts{"d": 1}},
		},
		{
			name: "the annotation says what it means, and a preferred bound counts as well",
			pods: []*corev1.Pod{db, pod("shop", "a", "n1", "", `[{"to":{"node":"n7"},"max":"1ms"},{"to":{"zone":"z1"},"max":"1ms"},
				{"to":{"workload":"db"},"max":"1ms","required":false},{"to":{"endpoint":"db.example.com:5432"},"max":"9ms"}]`, nil)},
			want: references{nodes: counts{"n7": 1, "n4": 1}, zones: counts{"z1": 1}, endpoints: counts{"db.example.com:5432": 1}},
		},
		{
			name: "a selector means the pods with these labels",
			pods: []*corev1.Pod{
				pod("shop", "a", "", "", `[{"to":{"selector":"app=db"},"max":"1ms"}]`, nil), db,
				pod("shop", "db2", "n5", "", "", map[string]string{"app": "db"}), pod("other", "db3", "n6", "", "", map[string]string{"app": "db"}),
			},
			want: references{nodes: counts{"n4": 1, "n5": 1}},
		},
		{
			name: "a malformed bound refers to nothing",
			pods: []*corev1.Pod{pod("shop", "a", "", "", "", map[string]string{"delay_edge-1": "soon"}), pod("shop", "b", "", "", "{", nil)},
			want: references{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := newIndex()
			for _, p := range tt.pods {
				x.set(p)
			}
			for _, on := range []*counts{&tt.want.nodes, &tt.want.zones, &tt.want.endpoints} {
				if *on == nil {
					*on = counts{}
				}
			}
			if diff := cmp.Diff(tt.want, x.references(), cmp.AllowUnexported(references{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, p := range tt.pods {
				over := p.DeepCopy()
				over.Status.Phase = corev1.PodSucceeded
				x.set(over)
			}
			if len(x.pods)+len(x.wanted)+len(x.placed)+len(x.selectors) != 0 {
				t.Errorf("when all pods are over the index still holds %+v", x)
			}
		})
	}
}

// The index counts; the reference implementation looks at all pods each time.
func TestTheIndexKnowsWhatALookAtAllPodsWouldTell(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 13))
	x, all := newIndex(), map[types.UID]*corev1.Pod{}
	bounds := []string{
		"", `[{"to":{"workload":"w1"},"max":"1ms"}]`, `[{"to":{"selector":"app in (a,b)"},"max":"1ms"}]`,
		`[{"to":{"selector":"app=c","namespace":"ns1"},"max":"1ms"},{"to":{"node":"n3"},"max":"1ms"}]`,
		`[{"to":{"workload":"w2","namespace":"ns0"},"max":"1ms"},{"to":{"zone":"z"},"max":"2ms"}]`,
	}
	for step := range 300 {
		name := fmt.Sprintf("p%d", random.IntN(40))
		namespace := fmt.Sprintf("ns%d", random.IntN(2))
		if random.IntN(4) == 0 {
			x.remove(types.UID(namespace + "/" + name))
			delete(all, types.UID(namespace+"/"+name))
		} else {
			node := ""
			if n := random.IntN(6); n > 0 {
				node = fmt.Sprintf("n%d", n)
			}
			set := map[string]string{"app": string(rune('a' + random.IntN(4)))}
			if random.IntN(3) == 0 {
				set["delay_w1"] = "5"
			}
			p := pod(namespace, name, node, fmt.Sprintf("StatefulSet/w%d", random.IntN(3)), bounds[random.IntN(len(bounds))], set)
			x.set(p)
			all[p.UID] = p
		}
		if diff := cmp.Diff(lookAtAll(all), x.references(), cmp.AllowUnexported(references{})); diff != "" {
			t.Fatalf("step %d (-all pods +index):\n%s", step, diff)
		}
	}
}

func lookAtAll(pods map[types.UID]*corev1.Pod) references {
	r := references{nodes: counts{}, zones: counts{}, endpoints: counts{}}
	hosts := func(matches func(*corev1.Pod) bool) []string {
		found := map[string]bool{}
		for _, p := range pods {
			if p.Spec.NodeName != "" && matches(p) {
				found[p.Spec.NodeName] = true
			}
		}
		return slices.Collect(maps.Keys(found))
	}
	named := func(namespace, name string) func(*corev1.Pod) bool {
		return func(p *corev1.Pod) bool {
			return p.Namespace == namespace && (p.Name == name || metav1.GetControllerOf(p).Name == name)
		}
	}
	for _, p := range pods {
		for _, want := range entryOf(p).wants {
			switch want.Kind {
			case vicinityv1alpha1.DelayToNode:
				r.nodes[want.Name]++
			case vicinityv1alpha1.DelayToZone:
				r.zones[want.Name]++
			case vicinityv1alpha1.DelayToEndpoint:
				r.endpoints[want.Name]++
			case vicinityv1alpha1.DelayToReference:
				r.nodes[want.Name]++
				for _, node := range hosts(named(want.Namespace, want.Name)) {
					r.nodes[node]++
				}
			case vicinityv1alpha1.DelayToWorkload:
				for _, node := range hosts(named(want.Namespace, want.Name)) {
					r.nodes[node]++
				}
			case vicinityv1alpha1.DelayToSelector:
				selector, _ := labels.Parse(want.Name)
				for _, node := range hosts(func(p *corev1.Pod) bool {
					return p.Namespace == want.Namespace && selector.Matches(labels.Set(p.Labels))
				}) {
					r.nodes[node]++
				}
			}
		}
	}
	return r
}

func node(name, zone string, addresses ...string) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
	for _, a := range addresses {
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
	}
	return n
}

func TestTheListOfNodesAndReferences(t *testing.T) {
	nodes := []corev1.Node{
		node("n3", "z2", "10.0.0.3"), node("n1", "z1", "10.0.0.1", "fd00::1", "10.0.0.1", "224.0.0.1", "nonsense"),
		node("n2", "z1", "10.0.0.2"), node("new", "z1"),
	}
	nodes[0].Status.Addresses = append(nodes[0].Status.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: "10.1.1.1"})
	list, missed := compile(nodes, references{
		nodes: counts{"n1": 2, "nosuch": 1}, zones: counts{"z2": 1}, endpoints: counts{"a.example.com": 1, "b.test:1": 3},
	}, []string{"*.example.com"}, "")
	want := &targets.List{Version: targets.Version, Endpoints: []string{"a.example.com"}, Nodes: []targets.Node{
		{Name: "n1", Zone: "z1", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")}, Reference: true},
		{Name: "n2", Zone: "z1", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.2")}},
		{Name: "n3", Zone: "z2", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.3")}, Reference: true},
	}}
	if diff := cmp.Diff(want, list, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if missed != (omissions{endpoints: 1}) {
		t.Errorf("omitted %+v, want one endpoint", missed)
	}
}

func TestALargeClusterIsSampledButForItsReferences(t *testing.T) {
	var nodes []corev1.Node
	wanted := references{nodes: counts{}}
	for i := range 19_001 {
		name := fmt.Sprintf("n%05d", i)
		nodes = append(nodes, node(name, "z", netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}).String()))
		if i < targets.MaxReferences+5 {
			wanted.nodes[name] = 1 + i // the last ones are wanted most
		}
	}
	list, missed := compile(nodes, wanted, nil, "")
	if _, err := list.Encode(); err != nil {
		t.Fatal(err)
	}
	if len(list.Nodes) != targets.MaxNodes+targets.MaxReferences || missed.references != 5 || list.ClusterNodes != 20_000 {
		t.Errorf("%d nodes of %d, omitted %+v", len(list.Nodes), list.ClusterNodes, missed)
	}
	if i := slices.IndexFunc(list.Nodes, func(n targets.Node) bool { return n.Name == "n01028" }); i < 0 || !list.Nodes[i].Reference {
		t.Error("the most wanted reference is not on the list")
	}
}

func BenchmarkPodEvent(b *testing.B) {
	x := newIndex()
	for i := range 50_000 {
		x.set(pod("ns", fmt.Sprintf("p%d", i), fmt.Sprintf("n%d", i%5000), "StatefulSet/w", "", map[string]string{"app": "a"}))
	}
	for i := range 32 {
		x.set(pod("ns", fmt.Sprintf("s%d", i), "n1", "", fmt.Sprintf(`[{"to":{"selector":"app=a%d"},"max":"1ms"}]`, i), nil))
	}
	here, there := pod("ns", "p0", "n1", "StatefulSet/w", "", nil), pod("ns", "p0", "n2", "StatefulSet/w", "", nil)
	b.ReportAllocs()
	for b.Loop() {
		x.set(here)
		x.set(there)
	}
}
