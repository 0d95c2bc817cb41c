package dynamodb

import (
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/values"
)

// FuzzShardIterator checks that an iterator is rejected, or is the text of a place in its stream.
func FuzzShardIterator(f *testing.F) {
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/2026-11-20T12:00:00.000"
	s := &stream{streamInfo: streamInfo{UUID: "3c84e01d-0671-4d6e-b60a-bdb6b13c4031"}}
	f.Add(s.iterator(arn, 17, time.Unix(1_790_000_000, 0)))
	f.Add(arn + iteratorSeparator)
	f.Fuzz(func(t *testing.T, text string) {
		arn, position, err := splitIterator(text)
		if err != nil {
			return
		}
		after, issued, err := s.decodePosition(position)
		if err == nil && s.iterator(arn, after, time.UnixMilli(issued)) != text {
			t.Errorf("%q is decoded as %q", text, s.iterator(arn, after, time.UnixMilli(issued)))
		}
		if err != nil && asAPIError(err) == nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// FuzzStreamRecord checks that a damaged record is an error.
func FuzzStreamRecord(f *testing.F) {
	s := &stream{streamInfo: streamInfo{ID: 1, View: viewBoth}}
	key := values.Item{{Name: "pk", Value: values.Value{Kind: values.S, S: "a"}}}
	item := values.Item{{Name: "n", Value: values.FromInt(1)}, key[0]}
	f.Add(s.encode(eventModify, key, item, values.AppendItem(nil, item)))
	f.Add(s.encode(eventExpire, key, item, nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		record, err := s.decode(s.recordKey(1), value)
		if err == nil && record.EventName == "" {
			t.Errorf("%x: no event", value)
		}
	})
}
