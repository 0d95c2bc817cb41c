package dynamodb

// Capacity units: a write unit is 1 KB, a read unit 4 KB. An eventually
// consistent read costs half, in a transaction the table's part twice.
const (
	writeUnitBytes = 1 << 10
	readUnitBytes  = 4 << 10

	eventually  = 0.5
	strongly    = 1.0
	transaction = 2.0
)

// unitsOf rounds a size up to units; nothing costs one unit, too.
func unitsOf(size, unitBytes int) float64 {
	return float64(max(1, (size+unitBytes-1)/unitBytes))
}

func consistency(consistent bool) float64 {
	if consistent {
		return strongly
	}
	return eventually
}

// writeUnits are what one change consumed: of the table, and of each of its
// indexes in their order.
type writeUnits struct {
	table   float64
	indexes []float64
}

// consumed is a ConsumedCapacity in the making.
type consumed struct {
	table   float64
	indexes map[string]float64
}

// addWrite adds what a change consumed. The factor of a transaction is the
// table's alone: writing to an index costs what it always does.
func (c *consumed) addWrite(t *table, units writeUnits, factor float64) {
	c.table += units.table * factor
	for i, n := range units.indexes {
		if n > 0 {
			c.addIndex(t.indexes[i].Name, n)
		}
	}
}

func (c *consumed) addIndex(name string, units float64) {
	if c.indexes == nil {
		c.indexes = map[string]float64{}
	}
	c.indexes[name] += units
}

// Which kind of units a transaction reports beside the total.
type capacityKind int

const (
	plainUnits capacityKind = iota
	readUnits
	writeUnitsKind
)

type capacityUnits struct {
	CapacityUnits      float64
	ReadCapacityUnits  float64 `json:",omitzero"`
	WriteCapacityUnits float64 `json:",omitzero"`
}

type consumedCapacity struct {
	TableName string
	capacityUnits
	Table                  *capacityUnits           `json:",omitzero"`
	GlobalSecondaryIndexes map[string]capacityUnits `json:",omitzero"`
}

// report renders the units as ReturnConsumedCapacity asks: nil for NONE.
func (c *consumed) report(mode, tableName string, kind capacityKind) *consumedCapacity {
	if mode != "TOTAL" && mode != "INDEXES" {
		return nil
	}
	total := c.table
	for _, n := range c.indexes {
		total += n
	}
	report := &consumedCapacity{TableName: tableName, capacityUnits: kind.of(total)}
	if mode == "TOTAL" {
		return report
	}
	own := kind.of(c.table)
	report.Table = &own
	for name, n := range c.indexes {
		if report.GlobalSecondaryIndexes == nil {
			report.GlobalSecondaryIndexes = map[string]capacityUnits{}
		}
		report.GlobalSecondaryIndexes[name] = kind.of(n)
	}
	return report
}

func (k capacityKind) of(units float64) capacityUnits {
	switch k {
	case readUnits:
		return capacityUnits{CapacityUnits: units, ReadCapacityUnits: units}
	case writeUnitsKind:
		return capacityUnits{CapacityUnits: units, WriteCapacityUnits: units}
	default:
		return capacityUnits{CapacityUnits: units}
	}
}
