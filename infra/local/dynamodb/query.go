package dynamodb

import (
	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

type pageRequest struct {
	TableName string
	IndexName string
	placeholders
	FilterExpression       *string
	ProjectionExpression   *string
	ConsistentRead         bool
	ExclusiveStartKey      values.Item
	Limit                  *int32
	ReturnConsumedCapacity string
	Select                 string
}

// check checks the request and parses its expressions. key is a KeyConditionExpression, or nil.
func (in *pageRequest) check(key *string) error {
	selected := in.Select == "SPECIFIC_ATTRIBUTES"
	switch {
	case selected && in.ProjectionExpression == nil, !selected && in.Select != "" && in.ProjectionExpression != nil:
		return invalid("Select SPECIFIC_ATTRIBUTES requires a ProjectionExpression, and other values do not allow one")
	case in.Select == "ALL_PROJECTED_ATTRIBUTES" && in.IndexName == "":
		return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return first(
		checkTable(in.TableName),
		between("Limit", in.Limit, 1, 1<<31-1),
		checkCapacity(in.ReturnConsumedCapacity),
		oneOf("Select", in.Select, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
		in.parse(expressionTexts{key: key, filter: in.FilterExpression, projection: in.ProjectionExpression}),
	)
}

type queryRequest struct {
	pageRequest
	KeyConditionExpression *string
	ScanIndexForward       *bool
}

func (in *queryRequest) check() error {
	return first(
		required("KeyConditionExpression", in.KeyConditionExpression != nil), in.pageRequest.check(in.KeyConditionExpression),
	)
}

type scanRequest struct {
	pageRequest
	Segment       *int32
	TotalSegments *int32
}

func (in *scanRequest) check() error {
	if (in.Segment == nil) != (in.TotalSegments == nil) {
		return invalid("Segment and TotalSegments must be specified together")
	}
	if in.Segment != nil && *in.Segment >= *in.TotalSegments {
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments")
	}
	return first(
		in.pageRequest.check(nil),
		between("TotalSegments", in.TotalSegments, 1, maxSegments),
		between("Segment", in.Segment, 0, maxSegments-1),
	)
}

type pageResponse struct {
	Items            *[]values.Item `json:",omitzero"`
	Count            int
	ScannedCount     int
	LastEvaluatedKey values.Item       `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitzero"`
}

func (db *DB) query(in *queryRequest) (*pageResponse, error) {
	s, err := db.source(&in.pageRequest)
	if err != nil {
		return nil, err
	}
	hash, term, err := resolve(s, in.Parsed.Key)
	if err != nil {
		return nil, err
	}
	if err := checkFilter(s, in.Parsed.Filter); err != nil {
		return nil, err
	}
	reverse := in.ScanIndexForward != nil && !*in.ScanIndexForward
	response, err := db.readPage(&in.pageRequest, s, s.selection(hash, term), reverse)
	if err == nil && s.Index == nil && (len(s.key()) == 1 || term != nil && term.Op == expressions.Equal) {
		response.LastEvaluatedKey = nil // the query selects one item
	}
	return response, err
}

func (db *DB) scan(in *scanRequest) (*pageResponse, error) {
	s, err := db.source(&in.pageRequest)
	if err != nil {
		return nil, err
	}
	keys := s.segment(0, 1)
	if in.Segment != nil {
		keys = s.segment(int64(*in.Segment), int64(*in.TotalSegments))
	}
	return db.readPage(&in.pageRequest, s, keys, false)
}

// source returns the table or index that a request reads.
func (db *DB) source(in *pageRequest) (s source, err error) {
	if s.Table, err = db.table(in.TableName); err != nil {
		return s, err
	}
	if err := s.Table.checkScalars(in.Parsed.Paths); err != nil {
		return s, err
	}
	if in.IndexName == "" {
		return s, nil
	}
	s.Index = s.Table.findIndex(in.IndexName)
	switch {
	case s.Index == nil:
		return s, invalid("The table does not have the specified index: %s", in.IndexName)
	case in.ConsistentRead:
		return s, invalid("Consistent reads are not supported on global secondary indexes")
	case s.Index.Included == nil:
		return s, nil
	case in.Select == "ALL_ATTRIBUTES":
		return s, invalid("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for "+
			"global secondary index %s because its projection type is not ALL", in.IndexName)
	}
	for _, path := range in.Parsed.Projection.Paths() {
		if !s.Index.Included[path.Root()] {
			return s, invalid("One or more parameter values were invalid: Global secondary index %s does not project [%s]",
				in.IndexName, path.Root())
		}
	}
	return s, nil
}

// resolve returns the hash key and the condition of the range key, which is nil if there is none.
func resolve(s source, condition *expressions.KeyCondition) (values.Value, *expressions.KeyTerm, error) {
	keys := s.key()
	rangeName := ""
	if len(keys) > 1 {
		rangeName = keys[1].Name
	}
	hash, term, err := condition.Resolve(keys[0].Name, rangeName)
	if err != nil {
		return hash, nil, err
	}
	if err := keys[0].check(hash); err != nil || term == nil {
		return hash, nil, err
	}
	if term.Op == expressions.Between {
		if err := keys[1].check(term.B); err != nil {
			return hash, nil, err
		}
	}
	return hash, term, keys[1].check(term.A)
}

// checkFilter rejects a filter on the keys by which the query selects.
func checkFilter(s source, filter *expressions.Condition) error {
	for _, path := range filter.Paths() {
		if s.key().has(path.Root()) {
			return invalid("Filter Expression can only contain non-primary key attributes: "+
				"Primary key attribute: %s", path.Root())
		}
	}
	return nil
}

// checkStartKey checks that an ExclusiveStartKey identifies a place in the source.
func checkStartKey(s source, key values.Item) error {
	keys := s.pageKey()
	valid := len(key) == len(keys)
	for _, k := range keys {
		value, _ := key.Get(k.Name)
		valid = valid && k.check(value) == nil
	}
	if !valid {
		return invalid("The provided starting key is invalid")
	}
	return nil
}

// readPage reads a page of a query or scan.
func (db *DB) readPage(
	in *pageRequest, s source, keys span, reverse bool,
) (*pageResponse, error) {
	if in.ExclusiveStartKey != nil {
		if err := checkStartKey(s, in.ExclusiveStartKey); err != nil {
			return nil, err
		}
		var inside bool
		if keys, inside = s.after(keys, in.ExclusiveStartKey, reverse); !inside {
			return nil, invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
	}
	response := &pageResponse{}
	items := []values.Item{}
	page, err := db.store.readPage(keys, reverse, limitOr(in.Limit, 0), func(item values.Item) {
		if !in.Parsed.Filter.Match(item) {
			return
		}
		response.Count++
		if in.Select != "COUNT" {
			items = append(items, in.Parsed.Projection.Apply(item))
		}
	})
	if err != nil {
		return nil, err
	}
	response.ScannedCount = page.Scanned
	if in.Select != "COUNT" {
		response.Items = &items
	}
	if !page.Ended {
		response.LastEvaluatedKey = s.pageKey().of(page.Last)
	}
	used := usage{mode: in.ReturnConsumedCapacity}
	units := readUnits(page.Bytes) * consistency(in.ConsistentRead)
	if s.Index != nil {
		used.of(s.Table).addIndex(s.Index.Name, units)
	} else {
		used.of(s.Table).table = units
	}
	response.ConsumedCapacity = used.single()
	return response, nil
}
