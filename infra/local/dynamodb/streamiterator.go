package dynamodb

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	iteratorLifetime = 15 * time.Minute
	maxIteratorBytes = 2048
	minSequence      = 21
	maxSequence      = 40
)

var iteratorTypes = []string{"TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP"}

var (
	errInvalidIterator = invalid("Invalid ShardIterator")
	errInvalidSequence = invalid("Invalid SequenceNumber")
	errTrimmed         = &apiError{Type: typeTrimmed, Message: "The data you are trying to access has been trimmed"}
	errExpiredIterator = &apiError{Type: typeExpiredIterator, Message: "The provided iterator exceeds the maximum age allowed"}
)

type getShardIteratorRequest struct {
	StreamArn         *string
	ShardID           *string `json:"ShardId"`
	ShardIteratorType *string
	SequenceNumber    *string
	Timestamp         *float64 // seconds since 1970
}

type getShardIteratorResponse struct {
	ShardIterator string
}

func (in *getShardIteratorRequest) check() error {
	var v violations
	v.text(in.StreamArn, "streamArn", minStreamARN, maxStreamARN)
	v.text(in.ShardID, "shardId", minShardID, maxShardID)
	v.choice(in.ShardIteratorType, "shardIteratorType", iteratorTypes)
	v.optionalText(in.SequenceNumber, "sequenceNumber", minSequence, maxSequence)
	if err := v.err(); err != nil {
		return err
	}
	kind := *in.ShardIteratorType
	if bySequence := strings.HasSuffix(kind, "_SEQUENCE_NUMBER"); bySequence != (in.SequenceNumber != nil) {
		if bySequence {
			return invalidParameters("SequenceNumber is required for ShardIteratorType %s", kind)
		}
		return invalidParameters("SequenceNumber must not be specified for ShardIteratorType %s", kind)
	}
	if byTime := kind == "AT_TIMESTAMP"; byTime != (in.Timestamp != nil) {
		if byTime {
			return invalidParameters("Timestamp is required for ShardIteratorType %s", kind)
		}
		return invalidParameters("Timestamp must not be specified for ShardIteratorType %s", kind)
	}
	return nil
}

// getShardIterator gives a reader its first position.
func (db *DB) getShardIterator(in *getShardIteratorRequest) (*getShardIteratorResponse, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	now := db.options.Now()
	s, err := db.findStream(*in.StreamArn, now)
	if err != nil {
		return nil, err
	}
	if *in.ShardID != s.Shard {
		return nil, &apiError{Type: typeNotFound, Message: "Requested resource not found: Shard: " + *in.ShardID + " not found"}
	}
	position, err := db.startingPosition(s, in, now)
	if err != nil {
		return nil, err
	}
	return &getShardIteratorResponse{shardIterator{*in.StreamArn, position, now.UnixMilli()}.encode(s)}, nil
}

// startingPosition is the number after which a reader starts.
func (db *DB) startingPosition(s *stream, in *getShardIteratorRequest, now time.Time) (uint64, error) {
	last := s.durable.Load()
	horizon, err := db.horizon(s, now)
	if err != nil {
		return 0, err
	}
	switch *in.ShardIteratorType {
	case "LATEST":
		return last, nil
	case "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER":
		number, err := parseSequence(*in.SequenceNumber)
		switch {
		case err != nil || number > last:
			return 0, errInvalidSequence
		case number < horizon:
			return 0, errTrimmed
		case *in.ShardIteratorType == "AT_SEQUENCE_NUMBER" && number > horizon:
			number--
		}
		return number, nil
	case "AT_TIMESTAMP":
		const milliseconds = 1000
		at := math.Round(*in.Timestamp * milliseconds)
		if at > float64(now.UnixMilli()) {
			return 0, invalidParameters("Timestamp must not be in the future")
		}
		s.trim.Lock()
		defer s.trim.Unlock()
		first, _, err := db.firstSince(s, horizon, last, int64(at))
		return first - 1, err
	default:
		return horizon, nil
	}
}

// parseSequence reads what sequenceText writes.
func parseSequence(text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, sequencePrefix)
	if !ok || len(digits) != sequenceDigits {
		return 0, errInvalidSequence
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, errInvalidSequence
	}
	return number, nil
}

// shardIterator is a position in a stream, given to a reader to keep: nothing
// here remembers it, so that a restart loses none.
type shardIterator struct {
	arn      string
	position uint64 // the last number that the reader has, or does not want
	issued   int64  // milliseconds since 1970
}

const (
	iteratorSeparator = "|1|"
	iteratorBytes     = 8 + 8 + 4
)

// encode writes the iterator: the stream's ARN, as in AWS's, and the position.
func (i shardIterator) encode(s *stream) string {
	data := binary.BigEndian.AppendUint64(make([]byte, 0, iteratorBytes), i.position)
	data = binary.BigEndian.AppendUint64(data, uint64(i.issued)) //nolint:gosec // after 1970
	data = binary.BigEndian.AppendUint32(data, iteratorSum(data, s))
	return i.arn + iteratorSeparator + base64.StdEncoding.EncodeToString(data)
}

// iteratorSum finds iterators that were cut, or belong to another stream of the
// same name.
func iteratorSum(data []byte, s *stream) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(data), crc32.IEEETable, []byte(s.UUID))
}

// openIterator reads an iterator and finds its stream; the catalog must be held.
func (db *DB) openIterator(text string, now time.Time) (shardIterator, *stream, error) {
	arn, encoded, found := strings.Cut(text, iteratorSeparator)
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !found || err != nil || len(data) != iteratorBytes {
		return shardIterator{}, nil, errInvalidIterator
	}
	s, err := db.findStream(arn, now)
	if err != nil {
		return shardIterator{}, nil, err
	}
	body, sum := data[:iteratorBytes-4], data[iteratorBytes-4:]
	if binary.BigEndian.Uint32(sum) != iteratorSum(body, s) {
		return shardIterator{}, nil, errInvalidIterator
	}
	i := shardIterator{arn, binary.BigEndian.Uint64(body), int64(binary.BigEndian.Uint64(body[8:]))} //nolint:gosec // written from an int64
	if now.UnixMilli()-i.issued > iteratorLifetime.Milliseconds() {
		return i, nil, errExpiredIterator
	}
	return i, s, nil
}
