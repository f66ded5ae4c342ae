package diskio

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

// TestWhichDiskAVolumeIsChargedTo: a node with a system disk and a data disk below /mnt/data.
func TestWhichDiskAVolumeIsChargedTo(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	core := factory.Core().V1()
	claim := func(name, volume string) *corev1.PersistentVolumeClaim {
		return st.MakePersistentVolumeClaim().Namespace("team").Name(name).VolumeName(volume).Obj()
	}
	volume := func(name string, source corev1.PersistentVolumeSource) *corev1.PersistentVolume {
		pv := st.MakePersistentVolume().Name(name).Obj()
		pv.Spec.PersistentVolumeSource = source
		return pv
	}
	for _, object := range []*corev1.PersistentVolume{
		volume("pv-local", corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/data/v1"}}),
		volume("pv-beside", corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/database"}}),
		volume("pv-path", corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt/data"}}),
		volume("pv-remote", corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "remote"}}),
	} {
		if err := core.PersistentVolumes().Informer().GetStore().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	claims := core.PersistentVolumeClaims().Informer().GetStore()
	for name, volume := range map[string]string{
		"local": "pv-local", "beside": "pv-beside", "path": "pv-path", "remote": "pv-remote", "lost": "pv-gone", "unbound": "",
	} {
		if err := claims.Add(claim(name, volume)); err != nil {
			t.Fatal(err)
		}
	}
	args := &configv1.DiskIOArgs{}
	configv1.SetDefaults_DiskIOArgs(args)
	accounts := NewAccounts(args, modelTable{}, core.PersistentVolumeClaims().Lister(), core.PersistentVolumes().Lister())
	disks := &blockio.Node{Disks: []blockio.Disk{{ID: "data", Mounts: []string{"/mnt/data"}}, {ID: "system"}}, Default: 1}
	asks := func(claim string) *corev1.Pod {
		pod := asking(claim, `{"work":{"requests":{"rbps":"30Mi/4k","wbps":"20Mi/4k"}}}`)
		pod.Spec.Volumes = []corev1.Volume{{Name: "work"}}
		if claim != "-" {
			pod.Spec.Volumes[0].PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		}
		return pod
	}
	const data, system = 0, 1
	minimum := blockio.BestEffort(blockio.DefaultBestEffort)
	whole := blockio.Demand{Bandwidth: supply(30, 20, 50).Bandwidth}
	cases := map[string]struct {
		claim string // "-": the volume is an emptyDir
		disk  int
		want  blockio.Demand
	}{
		"an emptyDir is on the system disk":                      {"-", system, whole},
		"a local volume below the data disk's mount point":       {"local", data, whole},
		"a path that only begins like the mount point":           {"beside", system, whole},
		"a hostPath volume at the mount point":                   {"path", data, whole},
		"a volume that is not on the node, and best effort left": {"remote", system, minimum},
		"a claim that is not bound: its volume is not chosen":    {"unbound", system, whole},
		"a claim whose volume is gone":                           {"lost", system, whole},
		"a claim that does not exist":                            {"nobody", system, whole},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			uses := make([]Use, 2)
			accounts.Charge(uses, asks(tc.claim), disks)
			if uses[tc.disk].Requested != tc.want || uses[1-tc.disk].Requested != (blockio.Demand{}) {
				t.Errorf("charged %+v, want %+v on disk %d alone", uses, tc.want, tc.disk)
			}
		})
	}
	t.Run("once the claim is bound, its own disk is charged", func(t *testing.T) {
		pod := asks("unbound")
		if err := claims.Update(claim("unbound", "pv-local")); err != nil {
			t.Fatal(err)
		}
		uses := make([]Use, 2)
		if accounts.Charge(uses, pod, disks); uses[data].Requested != whole {
			t.Errorf("charged %+v, want the data disk", uses)
		}
	})
	t.Run("a volume that the pod has not", func(t *testing.T) {
		pod := asks("local")
		pod.Spec.Volumes[0].Name = "other"
		if _, err := accounts.wishOf(pod); err == nil || !strings.Contains(err.Error(), `names volume "work"`) {
			t.Errorf("error %v, want one that names the volume", err)
		}
	})
}
