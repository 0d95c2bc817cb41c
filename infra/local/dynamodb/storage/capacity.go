package storage

// A write unit is 1 KB, and a read unit 4 KB.
const (
	writeUnitBytes = 1 << 10
	readUnitBytes  = 4 << 10
)

// Units are the write units that a change consumed: of the table, and of its indexes in their order.
type Units struct {
	Table   float64
	Indexes []float64
}

// ReadUnits returns the units for a strongly consistent read of a size in bytes.
func ReadUnits(size int) float64 { return unitsOf(size, readUnitBytes) }

// unitsOf rounds a size up to units. The minimum is one unit.
func unitsOf(size, unitBytes int) float64 {
	return float64(max(1, (size+unitBytes-1)/unitBytes))
}
