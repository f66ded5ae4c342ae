package scheme

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	schedulerv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedulerscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"

	configv1 "github.com/vicinity-scheduler/vicinity/apis/config/v1"
)

// Install registers the plugin arguments with kube-scheduler, under the same Go type as version v1 and as the
// internal version. It must run before the first configuration is decoded: kube-scheduler builds one of its
// schemes then, from the scheme builders, and never again. Installing twice changes nothing.
func Install() {
	install(&schedulerv1.SchemeBuilder, schedulerv1.SchemeGroupVersion)
	install(&config.SchemeBuilder, config.SchemeGroupVersion)
}

func install(builder *runtime.SchemeBuilder, version schema.GroupVersion) {
	builder.Register(func(s *runtime.Scheme) error {
		configv1.AddPluginArgs(s, version)
		return nil
	})
	// The scheme that decodes configuration files was filled when its package was loaded.
	configv1.AddPluginArgs(schedulerscheme.Scheme, version)
}
