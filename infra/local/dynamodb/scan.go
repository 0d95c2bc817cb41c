package dynamodb

import (
	"encoding/binary"
	"fmt"
)

type scanRequest struct {
	pageParameters
	Segment       *int32
	TotalSegments *int32
	ScanFilter    refused
}

const maxSegments = 1_000_000

func (in *scanRequest) check() (*parsed, error) {
	if err := in.checkEmpty(); err != nil {
		return nil, err
	}
	var v violations
	in.pageParameters.check(&v)
	atLeast(&v, in.Limit, "limit", 1)
	atLeast(&v, in.TotalSegments, "totalSegments", 1)
	atMost(&v, in.TotalSegments, "totalSegments", maxSegments)
	atLeast(&v, in.Segment, "segment", 0)
	atMost(&v, in.Segment, "segment", maxSegments-1)
	if err := v.err(); err != nil {
		return nil, err
	}
	legacy := []parameter{
		{"AttributesToGet", bool(in.AttributesToGet)},
		{"ScanFilter", bool(in.ScanFilter)},
		{"ConditionalOperator", bool(in.ConditionalOperator)},
	}
	if err := refuseLegacy(legacy, in.given()); err != nil {
		return nil, err
	}
	if err := in.checkPlaceholders(": FilterExpression is null"); err != nil {
		return nil, err
	}
	if err := in.ExclusiveStartKey.Validate(); err != nil {
		return nil, invalid("%s: %s", errStartKey, inOlderWords(err).Error())
	}
	if err := in.checkSelect(); err != nil {
		return nil, err
	}
	if err := in.checkSegments(); err != nil {
		return nil, err
	}
	return in.parse()
}

func (in *scanRequest) checkSegments() error {
	switch {
	case in.Segment == nil && in.TotalSegments == nil:
		return nil
	case in.TotalSegments == nil:
		return invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case in.Segment == nil:
		return invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case *in.Segment >= *in.TotalSegments:
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: "+
			"Segment: %d is not less than TotalSegments: %d", *in.Segment, *in.TotalSegments)
	}
	return nil
}

// segment is the part of the source that this worker reads: hash keys are
// spread evenly over the partition space, which segments divide.
func (in *scanRequest) segment(s source) span {
	prefix := s.prefix()
	if in.Segment == nil || *in.TotalSegments == 1 {
		return prefixSpan(prefix)
	}
	const partitions = 1 << 32
	boundary := func(n int64) []byte {
		return binary.BigEndian.AppendUint32(append([]byte(nil), prefix...), uint32(partitions*n/int64(*in.TotalSegments))) //nolint:gosec // below 2³² for n < total
	}
	part := span{boundary(int64(*in.Segment)), prefixEnd(prefix)}
	if next := *in.Segment + 1; next < *in.TotalSegments {
		part.upper = boundary(int64(next))
	}
	return part
}

func (db *DB) scan(in *scanRequest) (*pageResponse, error) {
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
	if err := s.table.checkScalars(p); err != nil {
		return nil, err
	}
	if err := s.checkIndexReach(&in.pageParameters, p.projection); err != nil {
		return nil, err
	}
	request := pageRequest{
		source: s, span: in.segment(s), limit: in.limit(),
		filter: p.filter, projection: p.projection, countOnly: in.Select == "COUNT",
	}
	if in.ExclusiveStartKey != nil {
		if request.span, err = in.resume(s, request.span); err != nil {
			return nil, err
		}
	}
	result, err := db.readPage(request)
	if err != nil {
		return nil, err
	}
	return in.respond(s, result), nil
}

// resume cuts off what earlier pages have read; a start key of another segment
// is refused.
func (in *scanRequest) resume(s source, part span) (span, error) {
	if err := s.checkStartKey(in.ExclusiveStartKey); err != nil {
		return part, err
	}
	position := s.position(in.ExclusiveStartKey)
	if !part.contains(position) {
		return part, invalid("The provided starting key is outside query boundaries based on provided conditions: %s",
			fmt.Sprintf("it is not in segment %d of %d", *in.Segment, *in.TotalSegments))
	}
	return part.after(position, false), nil
}

// limit is the number of items to read, 0 for as many as fit.
func (in *pageParameters) limit() int {
	if in.Limit == nil {
		return 0
	}
	return int(*in.Limit)
}
