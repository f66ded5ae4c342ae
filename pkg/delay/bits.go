package delay

import (
	"iter"
	"math/bits"
	"slices"
)

// NodeID numbers the nodes of a [Store] from 0. A number stays with its node until the store forgets it.
type NodeID uint32

// noNode is the number of no node.
const noNode = NodeID(1<<32 - 1)

// wordBits is the number of nodes in a word of Bits.
const wordBits = 64

// Bits is a set of nodes. The zero value is empty.
type Bits []uint64

// newBits returns an empty set with room for n nodes.
func newBits(n int) Bits { return make(Bits, (n+wordBits-1)/wordBits) }

// Has reports whether the node is in the set. It does not allocate.
func (b Bits) Has(id NodeID) bool {
	word := int(id / wordBits)
	return word < len(b) && b[word]>>(id%wordBits)&1 == 1
}

// add puts a node, for which there must be room, into the set.
func (b Bits) add(id NodeID) { b[id/wordBits] |= 1 << (id % wordBits) }

// Count returns the number of nodes in the set.
func (b Bits) Count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// And returns the nodes that are in both sets.
func (b Bits) And(other Bits) Bits {
	both := slices.Clone(b[:min(len(b), len(other))])
	for i := range both {
		both[i] &= other[i]
	}
	return both
}

// Beyond reports whether the set holds a node that other does not.
func (b Bits) Beyond(other Bits) bool {
	for i, word := range b {
		if i < len(other) {
			word &^= other[i]
		}
		if word != 0 {
			return true
		}
	}
	return false
}

// Mark writes a value at the place of each node of the set, into marks, which it makes longer as need be.
func (b Bits) Mark(marks []uint8, value uint8) []uint8 {
	if missing := len(b)*wordBits - len(marks); missing > 0 {
		marks = append(marks, make([]uint8, missing)...)
	}
	for id := range b.members() {
		marks[id] = value
	}
	return marks
}

// members yields the nodes in rising order, as they are when each is reached.
func (b Bits) members() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range b {
			for word := b[i]; word != 0; word &= word - 1 {
				if !yield(i*wordBits + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
