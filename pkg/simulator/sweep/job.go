package sweep

import (
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Job is how a sweep is run in a cluster.
type Job struct {
	// Name of the Job.
	Name string
	// Image holds the vicinity program.
	Image string
	// Claim is a PersistentVolumeClaim with the traces, to which results are written as well.
	Claim string
	// Shards is the number of pods.
	Shards int
	// CPUs that each pod requests, and plays runs on.
	CPUs int
	// Args of `vicinity simulate sweep`, with paths as they are below DataFolder.
	Args []string
}

// DataFolder is where pods see the claim.
const DataFolder = "/data"

// indexVariable holds the pod's number.
const indexVariable = "JOB_COMPLETION_INDEX"

// Manifest is the YAML of an Indexed Job, each of whose pods plays one shard.
func (j *Job) Manifest() ([]byte, error) {
	var errs []error
	for flag, value := range map[string]string{"--job-image": j.Image, "--job-claim": j.Claim, "--job-name": j.Name} {
		if value == "" {
			errs = append(errs, fmt.Errorf("%s: want a value, found none", flag))
		}
	}
	if j.Shards < 1 || j.CPUs < 1 {
		errs = append(errs, fmt.Errorf("want at least one shard and one CPU, found %d and %d", j.Shards, j.CPUs))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	args := append([]string{"simulate", "sweep"}, j.Args...)
	args = append(args, "--shard", fmt.Sprintf("$(%s)/%d", indexVariable, j.Shards), "--out", DataFolder+"/"+j.Name)
	container := corev1.Container{
		Name: "sweep", Image: j.Image, Command: []string{"vicinity"}, Args: args, WorkingDir: DataFolder,
		Env: []corev1.EnvVar{{Name: indexVariable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			FieldPath: "metadata.annotations['" + batchv1.JobCompletionIndexAnnotation + "']",
		}}}},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(int64(j.CPUs), resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("512Mi"),
		}},
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: DataFolder}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	job := batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: j.Name},
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Completions: new(int32(j.Shards)), Parallelism: new(int32(j.Shards)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy:                corev1.RestartPolicyOnFailure,
				AutomountServiceAccountToken: new(false),
				SecurityContext: &corev1.PodSecurityContext{
					RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				},
				Containers: []corev1.Container{container},
				Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: j.Claim},
				}}},
			}},
		},
	}
	text, err := yaml.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("writing the Job: %w", err)
	}
	// The status is not the user's to write, and a client would be told so.
	return []byte(strings.TrimSuffix(string(text), "status: {}\n")), nil
}
