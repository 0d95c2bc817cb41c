package dynamodb

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/values"
)

// Limits of the operations of DynamoDB Streams.
const (
	maxRecords       = 1000
	maxIteratorBytes = 2048
)

// Types of shard iterators.
const (
	startTrimHorizon   = "TRIM_HORIZON"
	startLatest        = "LATEST"
	startAtSequence    = "AT_SEQUENCE_NUMBER"
	startAfterSequence = "AFTER_SEQUENCE_NUMBER"
)

var iteratorTypes = []string{startTrimHorizon, startLatest, startAtSequence, startAfterSequence}

type listStreamsRequest struct{ TableName string }

func (*listStreamsRequest) check() error { return nil }

type listedStream struct {
	StreamArn   string
	TableName   string
	StreamLabel string
}

type listStreamsResponse struct{ Streams []listedStream }

type describeStreamRequest struct{ StreamArn string }

func (in *describeStreamRequest) check() error { return required("StreamArn", in.StreamArn != "") }

// sequenceRange are the first and, if the shard is closed, the last sequence number of a shard.
type sequenceRange struct {
	StartingSequenceNumber string
	EndingSequenceNumber   string `json:",omitzero"`
}

type shardDescription struct {
	ShardID             string `json:"ShardId"`
	SequenceNumberRange sequenceRange
}

type streamDescription struct {
	StreamArn               string
	StreamLabel             string
	StreamStatus            string
	StreamViewType          string
	CreationRequestDateTime float64
	TableName               string
	KeySchema               []keySchemaElement
	Shards                  []shardDescription
}

type describeStreamResponse struct{ StreamDescription streamDescription }

type getShardIteratorRequest struct {
	StreamArn         string
	ShardID           string `json:"ShardId"`
	ShardIteratorType string
	SequenceNumber    string
}

func (in *getShardIteratorRequest) check() error {
	bySequence := strings.HasSuffix(in.ShardIteratorType, "_SEQUENCE_NUMBER")
	switch {
	case in.StreamArn == "" || in.ShardID == "":
		return invalid("StreamArn and ShardId are required")
	case !slices.Contains(iteratorTypes, in.ShardIteratorType):
		return invalid("ShardIteratorType must be one of %s", strings.Join(iteratorTypes, ", "))
	case bySequence != (in.SequenceNumber != ""):
		return invalid("SequenceNumber is required for the types with SEQUENCE_NUMBER, and not allowed otherwise")
	}
	return nil
}

type getShardIteratorResponse struct{ ShardIterator string }

type getRecordsRequest struct {
	ShardIterator string
	Limit         *int32
}

func (in *getRecordsRequest) check() error {
	return first(
		length("ShardIterator", len(in.ShardIterator), 1, maxIteratorBytes), between("Limit", in.Limit, 1, maxRecords),
	)
}

type getRecordsResponse struct {
	Records           []streamRecord
	NextShardIterator string `json:",omitzero"`
}

type streamRecord struct {
	EventID      string        `json:"eventID"`
	EventName    string        `json:"eventName"`
	EventVersion string        `json:"eventVersion"`
	EventSource  string        `json:"eventSource"`
	AWSRegion    string        `json:"awsRegion"`
	DynamoDB     streamChange  `json:"dynamodb"`
	UserIdentity *userIdentity `json:"userIdentity,omitzero"`
}

// streamChange contains the item before and after a change. ApproximateCreationDateTime is in seconds since 1970.
type streamChange struct {
	ApproximateCreationDateTime int64
	Keys                        values.Item
	NewImage                    values.Item `json:",omitzero"`
	OldImage                    values.Item `json:",omitzero"`
	SequenceNumber              string
	SizeBytes                   int
	StreamViewType              string
}

// userIdentity is the identity that changed an item, if it was not the application.
type userIdentity struct {
	PrincipalID string `json:"PrincipalId"`
	Type        string
}

// useStream sets the state of a stream after the stream has begun or ended. The change must be durable, and the catalog
// must be locked for writing. A nil state changes nothing.
func (db *DB) useStream(info *streamInfo) {
	if info == nil {
		return
	}
	s := db.streams[info.path()]
	if s == nil {
		s = &stream{}
		db.streams[info.path()] = s
	}
	s.streamInfo = *info
	s.wake()
}

// switchStream starts or ends a table's stream, and returns its new state.
func (db *DB) switchStream(batch *pebble.Batch, t *tableRecord, spec *streamSpec) (*streamInfo, error) {
	switch {
	case spec == nil:
		return nil, nil
	case spec.StreamEnabled && t.StreamView != "":
		return nil, invalid("Table already has an enabled stream: TableName: %s", t.Name)
	case spec.StreamEnabled:
		return db.startStream(batch, t, spec.StreamViewType)
	case t.StreamView == "":
		return nil, invalid("Table has no stream to disable: TableName: %s", t.Name)
	}
	return db.endStream(batch, t)
}

// startStream starts a stream for a table without one.
func (db *DB) startStream(batch *pebble.Batch, t *tableRecord, view string) (*streamInfo, error) {
	id, err := db.store.newNumber(batch)
	if err != nil {
		return nil, err
	}
	now, label := db.options.Now().UTC(), ""
	for at := now; label == "" || db.streams[pathOf(t.Name, label)] != nil; at = at.Add(time.Millisecond) {
		label = at.Format("2006-01-02T15:04:05.000")
	}
	unique := uuid.NewString()
	info := streamInfo{
		ID: id, UUID: unique, Table: t.Name, Label: label, View: view, Keys: t.Keys, Created: db.nowSeconds(),
		Shard: fmt.Sprintf("shardId-%020d-%s", now.UnixMilli(), unique[:8]),
	}
	t.StreamView, t.StreamLabel = view, label
	return &info, info.save(batch)
}

// endStream closes a table's stream, if it has one. No write is in flight while the catalog is locked for writing.
func (db *DB) endStream(batch *pebble.Batch, t *tableRecord) (*streamInfo, error) {
	if t.StreamView == "" {
		return nil, nil
	}
	info := db.streams[pathOf(t.Name, t.StreamLabel)].streamInfo
	info.Disabled = db.options.Now().UnixMilli()
	t.StreamView = ""
	return &info, info.save(batch)
}

func streamPath(arn string) (string, error) {
	_, path, _ := strings.Cut(arn, ":table/")
	table, label, _ := strings.Cut(path, "/stream/")
	if !strings.HasPrefix(arn, arnPrefix) || table == "" || label == "" {
		return "", invalid("Invalid StreamArn")
	}
	return path, nil
}

func (db *DB) stream(arn string, now time.Time) (*stream, error) {
	path, err := streamPath(arn)
	if err != nil {
		return nil, err
	}
	s := db.streams[path]
	if s == nil || db.account.streamARN(s.Table, s.Label) != arn || s.isExpired(now) {
		return nil, errorOf(typeNotFound, "Requested resource not found: Stream: %s not found", arn)
	}
	return s, nil
}

// StreamChanged returns a channel that is closed when the stream with this ARN has new records or has ended. It returns
// nil if there is no such stream. A reader that gets the channel before it reads the stream misses no record.
func (db *DB) StreamChanged(arn string) <-chan struct{} {
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	s, err := db.stream(arn, db.options.Now())
	if err != nil {
		return nil
	}
	return s.signal()
}

// listStreams lists the streams of one or all tables, in the order of table and label. Ended streams are listed until
// they expire. AWS returns pages of at most 100.
func (db *DB) listStreams(in *listStreamsRequest) (*listStreamsResponse, error) {
	now := db.options.Now()
	response := &listStreamsResponse{Streams: []listedStream{}}
	for _, path := range slices.Sorted(maps.Keys(db.streams)) {
		s := db.streams[path]
		if in.TableName != "" && s.Table != in.TableName || s.isExpired(now) {
			continue
		}
		response.Streams = append(response.Streams, listedStream{
			StreamArn: db.account.streamARN(s.Table, s.Label), TableName: s.Table, StreamLabel: s.Label,
		})
	}
	return response, nil
}

// describeStream describes a stream with its only shard, which has no parent and no children.
func (db *DB) describeStream(in *describeStreamRequest) (*describeStreamResponse, error) {
	now := db.options.Now()
	s, err := db.stream(in.StreamArn, now)
	if err != nil {
		return nil, err
	}
	d := streamDescription{
		StreamArn: in.StreamArn, StreamLabel: s.Label, StreamStatus: "ENABLED", StreamViewType: s.View,
		CreationRequestDateTime: s.Created, TableName: s.Table, KeySchema: s.Keys,
	}
	// The shard begins before its oldest record, so that readers can start there even if there are no records.
	numbers := sequenceRange{StartingSequenceNumber: sequenceNumber(s.horizon.Load())}
	if s.Disabled != 0 {
		d.StreamStatus, numbers.EndingSequenceNumber = "DISABLED", sequenceNumber(s.durable.Load())
	}
	d.Shards = []shardDescription{{ShardID: s.Shard, SequenceNumberRange: numbers}}
	return &describeStreamResponse{StreamDescription: d}, nil
}

func (db *DB) getShardIterator(in *getShardIteratorRequest) (*getShardIteratorResponse, error) {
	now := db.options.Now()
	s, err := db.stream(in.StreamArn, now)
	if err != nil {
		return nil, err
	}
	if in.ShardID != s.Shard {
		return nil, errorOf(typeNotFound, "Requested resource not found: Shard: %s not found", in.ShardID)
	}
	after, err := s.start(in)
	if err != nil {
		return nil, err
	}
	return &getShardIteratorResponse{ShardIterator: s.iterator(in.StreamArn, after, now)}, nil
}

// getRecords reads the records after an iterator. For a reader that has all records it does not read the store.
func (db *DB) getRecords(in *getRecordsRequest) (*getRecordsResponse, error) {
	arn, position, err := splitIterator(in.ShardIterator)
	if err != nil {
		return nil, err
	}
	now := db.options.Now()
	s, err := db.stream(arn, now)
	if err != nil {
		return nil, err
	}
	after, err := s.position(position, now)
	if err != nil {
		return nil, err
	}
	last := s.durable.Load()
	switch {
	case after > last:
		return nil, errInvalidIterator
	case after < s.horizon.Load():
		return nil, errTrimmed
	}
	records, after, err := s.read(db.store.DB, after, last, limitOr(in.Limit, maxRecords))
	if err != nil {
		return nil, err
	}
	for i := range records {
		records[i].AWSRegion = db.options.Region
	}
	response := &getRecordsResponse{Records: records}
	if s.Disabled == 0 || after < last {
		response.NextShardIterator = s.iterator(arn, after, now)
	}
	return response, nil
}

// sweepStreams deletes expired records, and streams that ended before the retention.
func (db *DB) sweepStreams(now time.Time) error {
	db.catalog.RLock()
	expired := false
	var errs []error
	for _, s := range db.streams {
		if s.isExpired(now) {
			expired = true
			continue
		}
		errs = append(errs, s.deleteExpired(db.store.Folder, now))
	}
	db.catalog.RUnlock()
	if expired {
		errs = append(errs, db.dropStreams(now))
	}
	return errors.Join(errs...)
}

func (db *DB) dropStreams(now time.Time) error {
	db.catalog.Lock()
	defer db.catalog.Unlock()
	isExpired := func(_ string, s *stream) bool { return s.isExpired(now) }
	err := db.store.Update(func(batch *pebble.Batch) (err error) {
		for path, s := range db.streams {
			if isExpired(path, s) {
				err = errors.Join(err, batch.Delete(numberedKey(datafolder.SpaceStream, s.ID), nil),
					datafolder.DropRange(batch, numberedKey(datafolder.SpaceStreamRecord, s.ID)))
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting ended streams: %w", err)
	}
	maps.DeleteFunc(db.streams, isExpired)
	return nil
}
