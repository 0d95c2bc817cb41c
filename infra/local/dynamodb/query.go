package dynamodb

import (
	"bytes"

	"devplatform/infra/local/dynamodb/attr"
	"devplatform/infra/local/dynamodb/expr"
)

type queryRequest struct {
	pageParameters
	ScanIndexForward *bool
	KeyConditions    refused
	QueryFilter      refused
}

func (in *queryRequest) check() (*parsed, error) {
	if err := in.checkEmpty(); err != nil {
		return nil, err
	}
	if in.Limit != nil && *in.Limit < 1 {
		return nil, invalid("1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1")
	}
	var v violations
	in.pageParameters.check(&v)
	if err := v.err(); err != nil {
		return nil, err
	}
	legacy := []parameter{
		{"AttributesToGet", bool(in.AttributesToGet)},
		{"QueryFilter", bool(in.QueryFilter)},
		{"ConditionalOperator", bool(in.ConditionalOperator)},
		{"KeyConditions", bool(in.KeyConditions)},
	}
	if err := refuseLegacy(legacy, in.given()); err != nil {
		return nil, err
	}
	if err := in.checkPlaceholders(": FilterExpression and KeyConditionExpression are null"); err != nil {
		return nil, err
	}
	if err := in.ExclusiveStartKey.Validate(); err != nil {
		return nil, err
	}
	if in.KeyConditionExpression == nil {
		return nil, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	if err := in.checkSelect(); err != nil {
		return nil, err
	}
	return in.parseRenewed()
}

// selection is what a key condition selects of a source.
type selection struct {
	hash  attr.Value
	term  *expr.KeyTerm // on the range key, if any
	span  span
	exact bool // at most one item of a table
}

// selects resolves a key condition against the keys of the source.
func (s source) selects(condition *expr.KeyCondition) (selection, error) {
	keys := s.keys()
	rangeName := ""
	if len(keys) > 1 {
		rangeName = keys[1].Name
	}
	hash, term, err := condition.Resolve(keys[0].Name, rangeName)
	if err != nil {
		return selection{}, err
	}
	if err := checkConditionValue(hash, keys[0], false); err != nil {
		return selection{}, err
	}
	chosen := selection{hash: hash, term: term}
	prefix := appendPartition(s.prefix(), hash)
	chosen.span = prefixSpan(prefix)
	if term == nil {
		chosen.exact = s.index == nil && len(keys) == 1
		return chosen, nil
	}
	bounds := []attr.Value{term.A}
	if term.Op == expr.Between {
		bounds = append(bounds, term.B)
	}
	for _, bound := range bounds {
		if err := checkConditionValue(bound, keys[1], term.Op != expr.BeginsWith); err != nil {
			return selection{}, err
		}
	}
	chosen.exact = s.index == nil && term.Op == expr.Equal
	chosen.span = termSpan(prefix, term)
	return chosen, nil
}

func checkConditionValue(value attr.Value, key keyAttribute, isRange bool) error {
	if value.Kind != key.Kind {
		return invalidParameters("Condition parameter type does not match schema type")
	}
	if empty := emptyKind(value); empty != "" {
		return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", empty, key.Name)
	}
	return checkKeyLength(value, isRange)
}

// keyEndBytes is how many bytes end the encoding of a string or binary key:
// what begins with a value begins with its encoding without them.
const keyEndBytes = 2

// termSpan is the part of one hash key's items that a condition on the range
// key selects. No encoded key is a prefix of another, so that all keys with a
// range key of v are those that begin with its encoding.
func termSpan(prefix []byte, term *expr.KeyTerm) span {
	whole := prefixSpan(prefix)
	from := term.A.AppendKey(bytes.Clone(prefix))
	switch term.Op {
	case expr.Less:
		return span{whole.lower, from}
	case expr.LessEqual:
		return span{whole.lower, prefixEnd(from)}
	case expr.Greater:
		return span{prefixEnd(from), whole.upper}
	case expr.GreaterEqual:
		return span{from, whole.upper}
	case expr.Between:
		return span{from, prefixEnd(term.B.AppendKey(bytes.Clone(prefix)))}
	case expr.BeginsWith:
		return prefixSpan(from[:len(from)-keyEndBytes])
	default:
		return prefixSpan(from)
	}
}

// resume cuts off what earlier pages have read.
func (in *queryRequest) resume(s source, chosen selection, reverse bool) (span, error) {
	if err := s.checkStartKey(in.ExclusiveStartKey); err != nil {
		return span{}, err
	}
	keys := s.keys()
	if !in.ExclusiveStartKey[keys[0].Name].Equal(chosen.hash) {
		return span{}, invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	if chosen.term != nil && !chosen.term.Match(in.ExclusiveStartKey[keys[1].Name]) {
		return span{}, invalid("The provided starting key does not match the range key predicate")
	}
	return chosen.span.after(s.position(in.ExclusiveStartKey), reverse), nil
}

// checkFilter refuses a filter on the keys that the query selects by.
func (s source) checkFilter(filter *expr.Condition) error {
	if filter == nil {
		return nil
	}
	for _, path := range filter.Paths() {
		if s.keys().has(path.Root()) {
			return invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", path.Root())
		}
	}
	return nil
}

func (db *DB) query(in *queryRequest) (*pageResponse, error) {
	p, err := in.check()
	if err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	s, err := db.source(&in.pageParameters)
	if err != nil {
		return nil, err
	}
	chosen, err := s.selects(p.key)
	if err != nil {
		return nil, err
	}
	if err := s.checkFilter(p.filter); err != nil {
		return nil, err
	}
	if err := s.table.checkScalars(p); err != nil {
		return nil, err
	}
	if err := s.checkIndexReach(&in.pageParameters, p.projection); err != nil {
		return nil, err
	}
	request := pageRequest{
		source: s, span: chosen.span, reverse: in.ScanIndexForward != nil && !*in.ScanIndexForward,
		limit: in.limit(), filter: p.filter, projection: p.projection, countOnly: in.Select == "COUNT",
	}
	if in.ExclusiveStartKey != nil {
		if request.span, err = in.resume(s, chosen, request.reverse); err != nil {
			return nil, err
		}
	}
	result, err := db.readPage(request)
	if err != nil {
		return nil, err
	}
	result.ended = result.ended || chosen.exact
	return in.respond(s, result), nil
}
