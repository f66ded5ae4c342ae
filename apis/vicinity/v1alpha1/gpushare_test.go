package v1alpha1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func gpuAnnotations(count, milli, model, index string) map[string]string {
	annotations := map[string]string{}
	for key, value := range map[string]string{
		GPUCountAnnotation: count, GPUMilliAnnotation: milli, GPUModelAnnotation: model, GPUIndexAnnotation: index,
	} {
		if value != "" {
			annotations[key] = value
		}
	}
	return annotations
}

func TestParseGPUShare(t *testing.T) {
	cases := map[string]struct {
		annotations map[string]string
		want        GPUShare
		fault       string
	}{
		"no annotations":                   {},
		"a part of one":                    {annotations: gpuAnnotations("1", "460", "", ""), want: GPUShare{Count: 1, Milli: 460}},
		"a part without a count means one": {annotations: gpuAnnotations("", "460", "", ""), want: GPUShare{Count: 1, Milli: 460}},
		"a count without a part is whole":  {annotations: gpuAnnotations("2", "", "T4|P100", "0-3"), want: GPUShare{Count: 2, Milli: 1000, Models: "T4|P100", Indexes: []int{0, 3}}},
		"zero GPUs are none":               {annotations: gpuAnnotations("0", "500", "", ""), want: GPUShare{}},
		"half of each of two":              {annotations: gpuAnnotations("2", "500", "", ""), fault: "want 1000 for 2 GPUs"},
		"nothing of one":                   {annotations: gpuAnnotations("1", "0", "", ""), fault: "want 1 to 1000 for 1 GPUs, found 0"},
		"more than a whole one":            {annotations: gpuAnnotations("1", "5000", "", ""), fault: `want a whole number from 0 to 1000, found "5000"`},
		"a word":                           {annotations: gpuAnnotations("all", "", "", ""), fault: `gpu-count: want a whole number from 0 to 256, found "all"`},
		"a negative count":                 {annotations: gpuAnnotations("-1", "", "", ""), fault: `found "-1"`},
		"more devices than asked for":      {annotations: gpuAnnotations("1", "", "", "0-1"), fault: "want 1 device numbers"},
		"no device number":                 {annotations: gpuAnnotations("1", "", "", "x"), fault: `found "x"`},
		"a very long list of models":       {annotations: gpuAnnotations("1", "", strings.Repeat("T4|", 1000), ""), fault: "want at most 1024 characters"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseGPUShare(tc.annotations)
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Fatalf("want an error with %q, got %v", tc.fault, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("share (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzParseGPUShare: what is accepted is a demand that devices can meet.
func FuzzParseGPUShare(f *testing.F) {
	f.Add("1", "460", "T4", "0")
	f.Add("8", "1000", "", "0-1-2-3-4-5-6-7")
	f.Add("9999999999999999999", "-1", "|", "-")
	f.Fuzz(func(t *testing.T, count, milli, model, index string) {
		share, err := ParseGPUShare(gpuAnnotations(count, milli, model, index))
		if err != nil || share.Count == 0 {
			return
		}
		if share.Count < 0 || share.Count > maxGPUs || share.Milli < 1 || share.Milli > wholeGPU ||
			share.Count > 1 && share.Milli < wholeGPU || share.Indexes != nil && len(share.Indexes) != share.Count {
			t.Errorf("count %q, milli %q, index %q: accepted as %+v", count, milli, index, share)
		}
	})
}
