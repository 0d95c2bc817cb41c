package dynamodb

import (
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/attr"
	"devplatform/infra/local/dynamodb/expr"
)

// pageParameters are the parameters that Query and Scan share.
type pageParameters struct {
	tableRef
	expressions
	IndexName              *string
	ConsistentRead         bool
	ExclusiveStartKey      attr.Item
	Limit                  *int32
	ReturnConsumedCapacity string
	Select                 string
	AttributesToGet        refused
	ConditionalOperator    refused
}

func (in *pageParameters) check(v *violations) {
	v.enum(in.ReturnConsumedCapacity, "returnConsumedCapacity", capacityModes)
	v.enum(in.Select, "select", selectModes)
	in.tableRef.check(v)
	if in.IndexName != nil {
		v.name(in.IndexName, "indexName", minNameBytes)
	}
}

// checkSelect checks Select against the projection and the index. AWS speaks of
// querying even where the request scans.
func (in *pageParameters) checkSelect() error {
	switch {
	case in.Select == "SPECIFIC_ATTRIBUTES" && in.ProjectionExpression == nil:
		return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case in.ProjectionExpression != nil && in.Select != "" && in.Select != "SPECIFIC_ATTRIBUTES":
		return invalid("Cannot specify the ProjectionExpression when choosing to get %s", selectNames[in.Select])
	case in.Select == "ALL_PROJECTED_ATTRIBUTES" && in.IndexName == nil:
		return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
}

var selectNames = map[string]string{
	"ALL_ATTRIBUTES":           "ALL_ATTRIBUTES",
	"ALL_PROJECTED_ATTRIBUTES": "ALL_PROJECTED_ATTRIBUTES",
	"COUNT":                    "only the Count",
}

// source finds the table or index that a request reads.
func (db *DB) source(in *pageParameters) (source, error) {
	t, err := db.table(*in.TableName)
	if err != nil {
		return source{}, err
	}
	if in.IndexName == nil {
		return source{table: t}, nil
	}
	x := t.index(*in.IndexName)
	if x == nil {
		return source{}, invalid("The table does not have the specified index: %s", *in.IndexName)
	}
	if in.ConsistentRead {
		return source{}, invalid("Consistent reads are not supported on global secondary indexes")
	}
	return source{table: t, index: x}, nil
}

// checkIndexReach refuses to return what an index does not have.
func (s source) checkIndexReach(in *pageParameters, projection *expr.Projection) error {
	if s.index == nil || s.index.included == nil {
		return nil
	}
	if in.Select == "ALL_ATTRIBUTES" {
		return invalidParameters("Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", s.index.Name)
	}
	if projection == nil {
		return nil
	}
	var missing []string
	for _, path := range projection.Paths() {
		if name := path.Root(); !s.index.included[name] && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return invalidParameters("Global secondary index %s does not project [%s]", s.index.Name, strings.Join(missing, ", "))
	}
	return nil
}

const errStartKey = "The provided starting key is invalid"

// checkStartKey checks that an ExclusiveStartKey names a place in the source.
func (s source) checkStartKey(key attr.Item) error {
	keys := s.pageKeys()
	if len(key) != len(keys) {
		return invalid(errStartKey)
	}
	for _, k := range keys {
		value, ok := key[k.Name]
		if !ok {
			return invalid(errStartKey)
		}
		if value.Kind != k.Kind {
			return invalid(errStartKey + ": " + errKeyMismatch)
		}
		isRange := len(s.keys()) > 1 && s.keys()[1].Name == k.Name
		if err := checkKeyValue(value, k.Name, isRange); err != nil {
			return invalid("%s: %s", errStartKey, err.(*apiError).Message) //nolint:errorlint,forcetypeassert // made here
		}
	}
	return nil
}

// respond renders a page; one that stopped before the end says where.
func (in *pageParameters) respond(s source, p *page) *pageResponse {
	response := &pageResponse{Count: p.count, ScannedCount: p.scanned}
	if in.Select != "COUNT" {
		response.Items = &p.items
	}
	if !p.ended {
		response.LastEvaluatedKey = s.pageKeys().of(p.last)
	}
	var read consumed
	units := unitsOf(p.size, readUnitBytes) * consistency(in.ConsistentRead)
	if s.index != nil {
		read.addIndex(s.index.Name, units)
	} else {
		read.table = units
	}
	response.ConsumedCapacity = read.report(in.ReturnConsumedCapacity, s.table.Name, plainUnits)
	return response
}
