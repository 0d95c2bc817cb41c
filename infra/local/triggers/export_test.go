package triggers

// NewMemory returns a store of positions in memory.
func NewMemory() Positions { return newMemory() }
