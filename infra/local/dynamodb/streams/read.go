package streams

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"strings"
	"time"

	"devplatform/infra/local/datafolder"

	"devplatform/infra/local/dynamodb/keyspace"
	"devplatform/infra/local/dynamodb/wire"

	"github.com/cockroachdb/pebble/v2"
)

const (
	maxReadBytes     = 1 << 20
	iteratorLifetime = 15 * time.Minute
)

// Errors of readers.
var (
	ErrInvalidIterator = wire.Invalid("Invalid ShardIterator")
	ErrTrimmed         = wire.Errorf(wire.TypeTrimmed, "The data you are trying to access has been trimmed")

	errInvalidSequence = wire.Invalid("Invalid SequenceNumber")
	errExpiredIterator = wire.Errorf(wire.TypeExpiredIterator, "The provided iterator exceeds the maximum age allowed")
)

// Sequence numbers have 21 digits, as AWS's shortest ones. The first digit keeps the others in place, so that numbers
// and their texts have the same order.
const (
	sequencePrefix = "1"
	sequenceDigits = 20
)

// SequenceNumber returns the text of a number.
func SequenceNumber(number uint64) string {
	return fmt.Sprintf("%s%0*d", sequencePrefix, sequenceDigits, number)
}

func parseSequence(text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, sequencePrefix)
	number, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || len(digits) != sequenceDigits {
		return 0, errInvalidSequence
	}
	return number, nil
}

// Read returns the changes after a number, up to last, that fit into a response, and the number of the last of them.
// Their AWSRegion is empty.
func (s *Stream) Read(
	reader pebble.Reader, after, last uint64, limit int,
) (records []wire.StreamRecord, end uint64, err error) {
	if after >= last {
		return nil, after, nil
	}
	size := 0
	end = after
	from, to := keyspace.SequenceKey(datafolder.SpaceStreamRecord, s.ID, after+1), keyspace.SequenceKey(datafolder.SpaceStreamRecord, s.ID, last+1)
	err = datafolder.Range(reader, from, to, func(key, value []byte) (bool, error) {
		record, err := s.decode(key, value)
		if err != nil {
			return false, err
		}
		if size += record.DynamoDB.SizeBytes; size > maxReadBytes && len(records) > 0 {
			return false, nil
		}
		records, end = append(records, record), binary.BigEndian.Uint64(key[keyspace.PrefixBytes:])
		return len(records) < limit, nil
	})
	return records, end, err
}

// Start returns the number after which a new reader starts.
func (s *Stream) Start(reader pebble.Reader, in *wire.GetShardIteratorRequest, now time.Time) (uint64, error) {
	last := s.durable.Load()
	horizon, err := s.TrimHorizon(reader, now)
	if err != nil {
		return 0, err
	}
	switch in.ShardIteratorType {
	case wire.Latest:
		return last, nil
	case wire.AtSequence, wire.AfterSequence:
		number, err := parseSequence(in.SequenceNumber)
		switch {
		case err != nil || number > last:
			return 0, errInvalidSequence
		case number < horizon:
			return 0, ErrTrimmed
		case in.ShardIteratorType == wire.AtSequence && number > horizon:
			number--
		}
		return number, nil
	case wire.AtTimestamp:
		const milliseconds = 1000
		at := math.Round(*in.Timestamp * milliseconds)
		if at > float64(now.UnixMilli()) {
			return 0, wire.Invalid("Timestamp must not be in the future")
		}
		first, _, err := s.firstSince(reader, horizon, last, int64(at))
		return first - 1, err
	default:
		return horizon, nil
	}
}

// A shard iterator has the stream's ARN, as AWS's have, the number of the last change that the reader has, and the time
// when it was issued. The server does not remember iterators, so they stay valid after a restart.
const (
	iteratorSeparator = "|1|"
	iteratorBytes     = 8 + 8 + 4
)

// SplitIterator returns the ARN in an iterator, and the rest for [Stream.Position].
func SplitIterator(iterator string) (arn, position string, err error) {
	arn, position, found := strings.Cut(iterator, iteratorSeparator)
	if !found {
		return "", "", ErrInvalidIterator
	}
	return arn, position, nil
}

// Iterator returns an iterator for the changes after a number.
func (s *Stream) Iterator(arn string, after uint64, now time.Time) string {
	data := binary.BigEndian.AppendUint64(make([]byte, 0, iteratorBytes), after)
	data = binary.BigEndian.AppendUint64(data, uint64(now.UnixMilli()))
	data = binary.BigEndian.AppendUint32(data, s.checksum(data))
	return arn + iteratorSeparator + base64.StdEncoding.EncodeToString(data)
}

// checksum detects iterators that were changed, or that belong to another stream with the same name.
func (s *Stream) checksum(data []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(data), crc32.IEEETable, []byte(s.UUID))
}

// Position returns the number in an iterator. It returns an error if the iterator is not valid or has expired.
func (s *Stream) Position(position string, now time.Time) (uint64, error) {
	after, issued, err := s.decodePosition(position)
	if err == nil && now.UnixMilli()-issued > iteratorLifetime.Milliseconds() {
		return 0, errExpiredIterator
	}
	return after, err
}

func (s *Stream) decodePosition(position string) (after uint64, issued int64, err error) {
	data, err := base64.StdEncoding.Strict().DecodeString(position)
	if err != nil || len(data) != iteratorBytes {
		return 0, 0, ErrInvalidIterator
	}
	body, sum := data[:iteratorBytes-4], data[iteratorBytes-4:]
	if binary.BigEndian.Uint32(sum) != s.checksum(body) {
		return 0, 0, ErrInvalidIterator
	}
	return binary.BigEndian.Uint64(body), int64(binary.BigEndian.Uint64(body[8:])), nil
}
