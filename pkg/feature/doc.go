// Package feature is the one definition of what a learned scorer sees of a pod and a node: names, order, scaling, and a
// bit for each feature that tells whether its value is known. The scheduler plugin, the simulator and the trainer all
// make their vectors here, so a model cannot see something else in production than it was trained on.
//
// A vector has [Inputs] numbers: [Count] values, each scaled to about [-1, 1], and after them as many availability bits.
// What is unknown is 0 with the bit 0; a known 0 has the bit 1. What the numbers mean is fixed by [Schema], and [Hash] is
// a fingerprint of it that model files carry: a model that was trained for another schema is refused.
//
// A vector is a function of the pod's shape and the node's state alone. So what a network makes of it can be kept for as
// long as the node does not change.
//
// A pod that wants a part of one GPU has a candidate for each device it fits on, because devices are as different as
// nodes are; other pods have one per node.
//
// The fragmentation features follow Weng et al. (USENIX ATC 2023), through pkg/gpushare. How far a pod's CPU per GPU is
// from the node's, and the CPU that a placement strands, are this project's: an idle GPU without CPU beside it, or CPU
// without a GPU, is what keeps the last GPUs of a full cluster idle (docs/mlp.md shows what each is worth).
//
// The package is pure: standard library and other pure packages only.
package feature
