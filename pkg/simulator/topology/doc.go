// Package topology gives racks and servers to the nodes of experiments, as the script of the predecessor's fork
// (create_hierarchical_yamls.py) does: the first nodes are rack-0, the next ones rack-1, in the order of the files.
//
// Copies are written beside the originals, with -hier at the end of their names. The script's copies double every node,
// because the simulator reads both files, and a second run makes copies of copies; here readers take the copy in place of
// its original, copies are never copied, and a second run writes the same bytes.
//
// Besides rack and server, nodes get the labels that schedulers know: topology.kubernetes.io/zone and region, and
// topology.vicinity.dev/rack. A label that a node has already stays.
package topology
