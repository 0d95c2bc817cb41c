package dynamodb

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"devplatform/infra/local/datafolder"
)

const (
	maxReadBytes     = 1 << 20
	iteratorLifetime = 15 * time.Minute
)

// Errors of readers.
var (
	errInvalidIterator = invalid("Invalid ShardIterator")
	errTrimmed         = errorOf(typeTrimmed, "The data you are trying to access has been trimmed")

	errInvalidSequence = invalid("Invalid SequenceNumber")
	errExpiredIterator = errorOf(typeExpiredIterator, "The provided iterator exceeds the maximum age allowed")
)

// Sequence numbers have 21 digits, as AWS's shortest ones. The first digit keeps the others in place, so that numbers
// and their texts have the same order.
const (
	sequencePrefix = "1"
	sequenceDigits = 20
)

func sequenceNumber(number uint64) string {
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

// read returns the changes after one number and up to another that fit into a response. Their AWSRegion is empty. end
// is the number of the last change in the response, or after if there is none.
func (s *stream) read(
	reader pebble.Reader, after, last uint64, limit int,
) (records []streamRecord, end uint64, err error) {
	if after >= last {
		return nil, after, nil
	}
	size := 0
	end = after
	err = datafolder.Range(reader, s.recordKey(after+1), s.recordKey(last+1), func(key, value []byte) (bool, error) {
		record, err := s.decode(key, value)
		if err != nil {
			return false, err
		}
		size += record.DynamoDB.SizeBytes
		if size > maxReadBytes && len(records) > 0 {
			return false, nil
		}
		records, end = append(records, record), binary.BigEndian.Uint64(key[prefixBytes:])
		return len(records) < limit, nil
	})
	return records, end, err
}

// start returns the number after which a new reader starts.
func (s *stream) start(in *getShardIteratorRequest) (uint64, error) {
	last, horizon := s.durable.Load(), s.horizon.Load()
	switch in.ShardIteratorType {
	case startLatest:
		return last, nil
	case startAtSequence, startAfterSequence:
		number, err := parseSequence(in.SequenceNumber)
		switch {
		case err != nil || number > last:
			return 0, errInvalidSequence
		case number < horizon:
			return 0, errTrimmed
		case in.ShardIteratorType == startAtSequence && number > horizon:
			number--
		}
		return number, nil
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

// splitIterator returns the ARN in an iterator, and the rest for [stream.position].
func splitIterator(iterator string) (arn, position string, err error) {
	arn, position, found := strings.Cut(iterator, iteratorSeparator)
	if !found {
		return "", "", errInvalidIterator
	}
	return arn, position, nil
}

func (s *stream) iterator(arn string, after uint64, now time.Time) string {
	data := binary.BigEndian.AppendUint64(make([]byte, 0, iteratorBytes), after)
	data = binary.BigEndian.AppendUint64(data, uint64(now.UnixMilli()))
	data = binary.BigEndian.AppendUint32(data, s.checksum(data))
	return arn + iteratorSeparator + base64.StdEncoding.EncodeToString(data)
}

// checksum detects iterators that were changed, or that belong to another stream with the same name.
func (s *stream) checksum(data []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(data), crc32.IEEETable, []byte(s.UUID))
}

// position returns the number in an iterator. It returns an error if the iterator is not valid or has expired.
func (s *stream) position(position string, now time.Time) (uint64, error) {
	after, issued, err := s.decodePosition(position)
	if err == nil && now.UnixMilli()-issued > iteratorLifetime.Milliseconds() {
		return 0, errExpiredIterator
	}
	return after, err
}

// decodePosition returns the number in an iterator, and the time in milliseconds when it was issued.
func (s *stream) decodePosition(position string) (after uint64, issued int64, err error) {
	data, err := base64.StdEncoding.Strict().DecodeString(position)
	if err != nil || len(data) != iteratorBytes {
		return 0, 0, errInvalidIterator
	}
	body, sum := data[:iteratorBytes-4], data[iteratorBytes-4:]
	if binary.BigEndian.Uint32(sum) != s.checksum(body) {
		return 0, 0, errInvalidIterator
	}
	return binary.BigEndian.Uint64(body), int64(binary.BigEndian.Uint64(body[8:])), nil
}
