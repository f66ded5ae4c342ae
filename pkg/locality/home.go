package locality

import "iter"

// Home returns which of the nodes is home to a dataset that no place holds: the one whose hash together with the
// dataset's name is the largest (rendezvous hashing). Each pod of the dataset finds the same home, and when a
// node comes or goes, only datasets whose home it is move. It is "" without nodes.
func Home(key DatasetKey, nodes iter.Seq[string]) string {
	home, most := "", uint64(0)
	seed := hash(hash(hash(fnvOffset, key.Namespace), "/"), key.Name)
	for name := range nodes {
		if h := mix(hash(seed, name)); home == "" || h > most || h == most && name < home {
			home, most = name, h
		}
	}
	return home
}

// FNV-1a, 64 bit: http://www.isthe.com/chongo/tech/comp/fnv. A hash that is the same in every process, which
// maphash is not, so that the home outlives a restart.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func hash(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

// mix spreads FNV's weak high bits, by which Home compares, over the whole word: the finalizer of splitmix64
// (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
