package dynamodb

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Whatever an iterator's text is, it is refused or stands for a place in its stream.
func FuzzShardIterator(f *testing.F) {
	db := openTest(f, nil)
	s := &stream{streamRecord: streamRecord{UUID: "3c84e01d-0671-4d6e-b60a-bdb6b13c4031", Table: "things", Label: "2026-11-20T12:00:00.000"}}
	db.streams[s.path()] = s
	arn := db.streamARN(s.Table, s.Label)
	now := db.options.Now()
	f.Add(shardIterator{arn, 17, now.UnixMilli()}.encode(s))
	f.Add(arn + iteratorSeparator)
	f.Fuzz(func(t *testing.T, text string) {
		i, found, err := db.openIterator(text, now)
		if err != nil {
			if _, expected := asAPIError(err); !expected {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if found != s || i.encode(s) != text {
			t.Errorf("%q is read as %q", text, i.encode(s))
		}
	})
}

// A damaged record is an error, and never more than that.
func FuzzStreamRecord(f *testing.F) {
	s := &stream{streamRecord: streamRecord{ID: 1, View: viewBoth}}
	t := newTable(tableRecord{Keys: []keySchemaElement{{"pk", "HASH"}}, Attributes: []attributeDefinition{{"pk", "S"}}})
	item := attr.Item{"pk": attr.FromString("a"), "n": attr.FromInt(1)}
	f.Add(s.encodeRecord(&change{table: t, old: item, new: item}, attr.AppendItem(nil, item)))
	f.Add(s.encodeRecord(&change{table: t, old: item, expired: true}, nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		record, err := decodeRecord(s.recordKey(1), value)
		if err == nil && eventNames[record.event] == "" {
			t.Errorf("%x: event %d", value, record.event)
		}
	})
}

// Whatever a client of streams sends, the answer is a refusal or a success, never an internal error.
func FuzzStreamRequests(f *testing.F) {
	s := openStreaming(f, nil)
	arn := s.create(f, "things", types.StreamViewTypeNewAndOldImages)
	s.put(f, "things", sdkItem{"pk": str("a")})
	names := slices.Sorted(maps.Keys(streamOperations))
	for i := range names {
		f.Add(uint8(i), fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":%q,"Limit":1}`, arn, *s.describe(f, arn).Shards[0].ShardId, sequence(1)))
		f.Add(uint8(i), fmt.Sprintf(`{"ShardIterator":%q,"ShardFilter":{},"Timestamp":-1e308}`, s.iterator(f, arn, trimHorizon, nil)))
	}
	f.Fuzz(func(t *testing.T, operation uint8, body string) {
		name := names[int(operation)%len(names)]
		if got := callStream(t, s.db, name, body); got.status == http.StatusInternalServerError {
			t.Errorf("%s %s: %s", name, body, got.raw)
		}
	})
}
