// Package training finds the weights of plugin MLPScore's network in the simulator, and decides whether they may ship.
//
// What a rollout costs decided the method. One run of the published trace asks for 10,800 decisions over 1,213 nodes; if
// each evaluated a network with 6,200 weights for each node it would take 81 thousand million multiplications. But
// outputs depend on a node's state and a pod's shape alone, and are kept until the node changes: about a million
// evaluations remain, and a run takes under a second on one core. So thousands of whole runs are affordable, and the
// objective, the GPU share that is allocated in the end, can be used as it is: no gradient through ten thousand
// decisions, no reward for single ones.
//
// The start is a clone of fragmentation gradient descent (FGD; Weng et al., USENIX ATC 2023). No imitation needs to be
// learned for it: FGD's score is a feature, and a path through the network hands it on unchanged. From there an evolution
// strategy changes the weights of that path for all features, and how much a layer of random features adds to it:
// a separable (mu/mu, lambda) strategy with one step size per weight, after Ros and Hansen, "A Simple Modification in
// CMA-ES Achieving Linear Time and Space Complexity" (PPSN 2008). Candidates of one generation play the same workloads
// with the same seeds (common random numbers), so they differ by what they do, not by luck.
//
// The same seed gives the same weights, however many cores take part: results are collected by candidate, and only the
// strategy draws random numbers.
//
// [Judge] is the gate: a network ships only when it allocates more than FGD on workloads and seeds that it was not
// trained on, by more than two standard deviations of the paired difference.
package training
