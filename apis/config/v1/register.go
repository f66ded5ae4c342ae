package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the group of the configuration files that are ours alone, such as AgentConfiguration. Plugin
// arguments are registered in kube-scheduler's own group.
const GroupName = "config.vicinity.dev"

// AddPluginArgs registers every plugin's arguments, with their defaults, in a version of kube-scheduler's
// configuration group. Registering twice is harmless.
func AddPluginArgs(scheme *runtime.Scheme, version schema.GroupVersion) {
	scheme.AddKnownTypes(version, &CacheAwareArgs{}, &DiskIOArgs{}, &EdgeDelayArgs{}, &MLPScoreArgs{}, &SnifferArgs{})
	scheme.AddTypeDefaultingFunc(&CacheAwareArgs{}, func(obj any) { SetDefaults_CacheAwareArgs(obj.(*CacheAwareArgs)) })
	scheme.AddTypeDefaultingFunc(&DiskIOArgs{}, func(obj any) { SetDefaults_DiskIOArgs(obj.(*DiskIOArgs)) })
	scheme.AddTypeDefaultingFunc(&EdgeDelayArgs{}, func(obj any) { SetDefaults_EdgeDelayArgs(obj.(*EdgeDelayArgs)) })
	scheme.AddTypeDefaultingFunc(&MLPScoreArgs{}, func(obj any) { SetDefaults_MLPScoreArgs(obj.(*MLPScoreArgs)) })
	scheme.AddTypeDefaultingFunc(&SnifferArgs{}, func(obj any) { SetDefaults_SnifferArgs(obj.(*SnifferArgs)) })
}
