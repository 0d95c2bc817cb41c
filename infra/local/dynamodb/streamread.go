package dynamodb

import (
	"errors"
	"fmt"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/cockroachdb/pebble/v2"
)

const (
	maxRecords     = 1000
	maxRecordBytes = 1 << 20 // of an answer
)

type getRecordsRequest struct {
	ShardIterator *string
	Limit         *int32
}

type getRecordsResponse struct {
	Records           []wireRecord
	NextShardIterator string `json:",omitzero"`
}

type wireRecord struct {
	EventID      string        `json:"eventID"`
	EventName    string        `json:"eventName"`
	EventVersion string        `json:"eventVersion"`
	EventSource  string        `json:"eventSource"`
	AWSRegion    string        `json:"awsRegion"`
	DynamoDB     wireChange    `json:"dynamodb"`
	UserIdentity *wireIdentity `json:"userIdentity,omitzero"`
}

type wireChange struct {
	ApproximateCreationDateTime int64 // seconds since 1970
	Keys                        attr.Item
	NewImage                    attr.Item `json:",omitzero"`
	OldImage                    attr.Item `json:",omitzero"`
	SequenceNumber              string
	SizeBytes                   int
	StreamViewType              string
}

// wireIdentity says who changed an item, if it was not the application.
type wireIdentity struct {
	PrincipalID string `json:"PrincipalId"`
	Type        string
}

var (
	expiryIdentity = &wireIdentity{PrincipalID: "dynamodb.amazonaws.com", Type: "Service"}
	eventNames     = [...]string{eventInsert: "INSERT", eventModify: "MODIFY", eventRemove: "REMOVE", eventExpire: "REMOVE"}
)

func (in *getRecordsRequest) check() error {
	var v violations
	v.text(in.ShardIterator, "shardIterator", 1, maxIteratorBytes)
	checkLimit(&v, in.Limit, maxRecords)
	return v.err()
}

// getRecords reads on from an iterator. A reader that has everything costs no
// look at the store: it asks many times a second.
func (db *DB) getRecords(in *getRecordsRequest) (*getRecordsResponse, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	now := db.options.Now()
	from, s, err := db.openIterator(*in.ShardIterator, now)
	if err != nil {
		return nil, err
	}
	last := s.durable.Load()
	horizon, err := db.horizon(s, now)
	switch {
	case err != nil:
		return nil, err
	case from.position > last:
		return nil, errInvalidIterator
	case from.position < horizon:
		return nil, errTrimmed
	}
	records, err := db.readRecords(s, from.position, last, limited(in.Limit, maxRecords))
	if err != nil {
		return nil, err
	}
	response := &getRecordsResponse{Records: make([]wireRecord, len(records))}
	position := from.position
	for i := range records {
		response.Records[i] = db.render(s, &records[i])
		position = records[i].number
	}
	if s.Disabled == 0 || position < last {
		response.NextShardIterator = shardIterator{from.arn, position, now.UnixMilli()}.encode(s)
	}
	return response, nil
}

// readRecords reads the records behind a number, up to another, that fit into an
// answer.
func (db *DB) readRecords(s *stream, after, last uint64, limit int) ([]storedRecord, error) {
	if after >= last {
		return nil, nil
	}
	iterator, err := db.folder.DB.NewIter(&pebble.IterOptions{LowerBound: s.recordKey(after + 1), UpperBound: s.recordKey(last + 1)})
	if err != nil {
		return nil, fmt.Errorf("reading a stream: %w", err)
	}
	var records []storedRecord
	size := 0
	for valid := iterator.First(); valid && len(records) < limit; valid = iterator.Next() {
		var record storedRecord
		if record, err = decodeRecord(iterator.Key(), iterator.Value()); err != nil {
			break
		}
		if size += record.size(); size > maxRecordBytes && len(records) > 0 {
			break
		}
		records = append(records, record)
	}
	if err := errors.Join(err, iterator.Error(), iterator.Close()); err != nil {
		return nil, fmt.Errorf("reading a stream: %w", err)
	}
	return records, nil
}

func (db *DB) render(s *stream, r *storedRecord) wireRecord {
	const millisecond = 1000
	record := wireRecord{
		EventID: s.eventID(r.number), EventName: eventNames[r.event], EventVersion: "1.1", EventSource: "aws:dynamodb",
		AWSRegion: db.options.Region,
		DynamoDB: wireChange{
			ApproximateCreationDateTime: r.time / millisecond,
			Keys:                        r.keys, NewImage: r.new, OldImage: r.old,
			SequenceNumber: sequenceText(r.number), SizeBytes: r.size(), StreamViewType: s.View,
		},
	}
	if r.event == eventExpire {
		record.UserIdentity = expiryIdentity
	}
	return record
}
