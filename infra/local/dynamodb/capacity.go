package dynamodb

// capacityUnits are the units of a table or an index. Transactions also report them as units for reading or writing.
type capacityUnits struct {
	CapacityUnits      float64
	ReadCapacityUnits  float64 `json:",omitzero"`
	WriteCapacityUnits float64 `json:",omitzero"`
}

type consumedCapacity struct {
	TableName string
	capacityUnits
	Table                  *capacityUnits           `json:",omitzero"`
	GlobalSecondaryIndexes map[string]capacityUnits `json:",omitempty"`
}

// transactionFactor multiplies the units of a table in a transaction. It does not multiply the units of indexes.
const transactionFactor = 2

// consistency returns the factor of a read. An eventually consistent read costs half.
func consistency(consistent bool) float64 {
	if consistent {
		return 1
	}
	return 0.5
}

// usage adds up the capacity that a request consumes for each table. The tables are in the order of their first use.
type usage struct {
	mode          string // ReturnConsumedCapacity
	reads, writes bool   // the units that a transaction reports in addition to the total
	tables        []consumed
}

func (u *usage) units(n float64) capacityUnits {
	units := capacityUnits{CapacityUnits: n}
	if u.reads {
		units.ReadCapacityUnits = n
	}
	if u.writes {
		units.WriteCapacityUnits = n
	}
	return units
}

// consumed is the number of units that a request consumed for a table and for its indexes.
type consumed struct {
	name    string
	table   float64
	indexes map[string]float64
}

// of returns the usage of a table. The pointer is valid until the next call.
func (u *usage) of(t *table) *consumed {
	for i := range u.tables {
		if u.tables[i].name == t.Name {
			return &u.tables[i]
		}
	}
	u.tables = append(u.tables, consumed{name: t.Name})
	return &u.tables[len(u.tables)-1]
}

func (c *consumed) addIndex(name string, units float64) {
	if c.indexes == nil {
		c.indexes = map[string]float64{}
	}
	c.indexes[name] += units
}

// addWrites adds the units that changes consumed. The factor multiplies the units of tables only.
func (u *usage) addWrites(changes []change, factor float64) {
	for _, change := range changes {
		c := u.of(change.Table)
		c.table += change.Units.Table * factor
		for i, n := range change.Units.Indexes {
			if n > 0 {
				c.addIndex(change.Table.Indexes[i].Name, n)
			}
		}
	}
}

// report returns the capacity in the form that ReturnConsumedCapacity asks for, or nil for NONE.
func (u *usage) report() []*consumedCapacity {
	if u.mode != "TOTAL" && u.mode != "INDEXES" {
		return nil
	}
	reports := make([]*consumedCapacity, len(u.tables))
	for i, c := range u.tables {
		total := c.table
		indexes := map[string]capacityUnits{}
		for name, n := range c.indexes {
			total += n
			indexes[name] = u.units(n)
		}
		reports[i] = &consumedCapacity{TableName: c.name, capacityUnits: u.units(total)}
		if u.mode == "INDEXES" {
			table := u.units(c.table)
			reports[i].Table, reports[i].GlobalSecondaryIndexes = &table, indexes
		}
	}
	return reports
}

// single returns the report of a request that uses one table.
func (u *usage) single() *consumedCapacity {
	if reports := u.report(); len(reports) > 0 {
		return reports[0]
	}
	return nil
}
