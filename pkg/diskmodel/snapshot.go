package diskmodel

// Snapshot is what is loaded at one time. It is immutable.
type Snapshot struct {
	models     map[Key]*Model
	fallback   *Model
	generation uint64
}

// Model returns the model of a kind of disk. Where none is loaded, it returns the default model and false.
func (s *Snapshot) Model(vendor, model string) (_ *Model, known bool) {
	if m, ok := s.models[Key{Vendor: vendor, Model: model}]; ok {
		return m, true
	}
	return s.fallback, false
}

// Generation differs between snapshots with different models: demands computed with one generation hold for it.
func (s *Snapshot) Generation() uint64 { return s.generation }

// Len returns the number of models, without the default one.
func (s *Snapshot) Len() int { return len(s.models) }
