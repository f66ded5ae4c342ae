// Package api answers questions about decisions over HTTP, for the page, the command line and whoever else asks. Its
// description is openapi.yaml, served as /api/v1/openapi.json; a test checks real answers against it.
//
// Who asks is found out by the API server (TokenReview), and so is what they may see (SubjectAccessReview), both through
// k8s.io/apiserver's delegating implementations, which cache answers for seconds. The rule: a decision, an event or a
// stay belongs to a pod, and is for those who may get that pod. Whoever may get pods in all namespaces sees everything;
// others see the namespaces in which they may, and asking for another one is forbidden. What is about no pod has rules of
// its own: nodes are for those who may list nodes, delays and disks for those who may list the objects that they come
// from. Of what belongs to others a decision shows as much as `kubectl describe pod` does: names of nodes and plugins;
// names of preempted pods are left out.
//
// Lists go newest first and come in pages: "next" of an answer is the "after" of the next request. A page begins where
// the last one ended, whatever has arrived since. Everything that takes a limit has a largest one.
package api
