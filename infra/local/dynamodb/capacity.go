package dynamodb

import (
	"devplatform/infra/local/dynamodb/catalog"
	"devplatform/infra/local/dynamodb/storage"
	"devplatform/infra/local/dynamodb/wire"
)

// transactionFactor is the cost of a table's part of a transaction. Writing to an index costs the same as without one.
const transactionFactor = 2

// consistency returns the factor of a read. An eventually consistent read costs half.
func consistency(consistent bool) float64 {
	if consistent {
		return 1
	}
	return 0.5
}

// consumed adds up consumed capacity of a table and its indexes.
type consumed struct {
	table   float64
	indexes map[string]float64
}

// addWrite adds what a change consumed. The factor is for the table only.
func (c *consumed) addWrite(change *storage.Change, factor float64) {
	c.table += change.Units.Table * factor
	for i, n := range change.Units.Indexes {
		if n > 0 {
			c.addIndex(change.Table.Indexes[i].Name, n)
		}
	}
}

func (c *consumed) addIndex(name string, units float64) {
	if c.indexes == nil {
		c.indexes = map[string]float64{}
	}
	c.indexes[name] += units
}

// unitKind is the kind of units that a transaction reports in addition to the total.
type unitKind int

const (
	plainUnits unitKind = iota
	readUnits
	writeUnits
)

func (k unitKind) of(units float64) wire.CapacityUnits {
	switch k {
	case readUnits:
		return wire.CapacityUnits{CapacityUnits: units, ReadCapacityUnits: units}
	case writeUnits:
		return wire.CapacityUnits{CapacityUnits: units, WriteCapacityUnits: units}
	default:
		return wire.CapacityUnits{CapacityUnits: units}
	}
}

// report returns the capacity in the form that ReturnConsumedCapacity asks for, or nil for NONE.
func (c *consumed) report(mode, tableName string, kind unitKind) *wire.ConsumedCapacity {
	if mode != "TOTAL" && mode != "INDEXES" {
		return nil
	}
	total := c.table
	for _, n := range c.indexes {
		total += n
	}
	report := &wire.ConsumedCapacity{TableName: tableName, CapacityUnits: kind.of(total)}
	if mode == "TOTAL" {
		return report
	}
	table := kind.of(c.table)
	report.Table = &table
	for name, n := range c.indexes {
		if report.GlobalSecondaryIndexes == nil {
			report.GlobalSecondaryIndexes = map[string]wire.CapacityUnits{}
		}
		report.GlobalSecondaryIndexes[name] = kind.of(n)
	}
	return report
}

// consumedByTable adds up consumed capacity of several tables, in the order in which they appear.
type consumedByTable struct {
	tables []*catalog.Table
	used   map[*catalog.Table]*consumed
}

func (c *consumedByTable) of(t *catalog.Table) *consumed {
	if c.used == nil {
		c.used = map[*catalog.Table]*consumed{}
	}
	if c.used[t] == nil {
		c.used[t] = &consumed{}
		c.tables = append(c.tables, t)
	}
	return c.used[t]
}

func (c *consumedByTable) report(mode string, kind unitKind) []*wire.ConsumedCapacity {
	var reports []*wire.ConsumedCapacity
	for _, t := range c.tables {
		if report := c.used[t].report(mode, t.Name, kind); report != nil {
			reports = append(reports, report)
		}
	}
	return reports
}

// reportWrites reports what changes consumed.
func reportWrites(changes []storage.Change, mode string, factor float64, kind unitKind) []*wire.ConsumedCapacity {
	var used consumedByTable
	for i := range changes {
		used.of(changes[i].Table).addWrite(&changes[i], factor)
	}
	return used.report(mode, kind)
}
