package dynamodb

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/datafolder"
)

var (
	shardPattern  = regexp.MustCompile(`^shardId-\d{20}-[0-9a-f]{8}$`)
	streamPattern = regexp.MustCompile(`^arn:aws:dynamodb:us-east-1:000000000000:table/things/stream/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})$`)
)

func TestDescribeStream(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	arn := s.create(t, "things", types.StreamViewTypeNewImage)
	match := streamPattern.FindStringSubmatch(arn)
	if match == nil {
		t.Fatalf("arn %s", arn)
	}
	d := s.describe(t, arn)
	shard := aws.ToString(d.Shards[0].ShardId)
	if !shardPattern.MatchString(shard) {
		t.Errorf("shard %s", shard)
	}
	want := fmt.Sprintf(`{"StreamDescription":{"StreamArn":%q,"StreamLabel":%q,"StreamStatus":"ENABLED","StreamViewType":"NEW_IMAGE","CreationRequestDateTime":%d,`+
		`"TableName":"things","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Shards":[{"ShardId":%q,"SequenceNumberRange":{"StartingSequenceNumber":"100000000000000000000"}}]}}`,
		arn, match[1], s.clock.Now().Unix(), shard)
	if diff := cmp.Diff(want, mustStream(t, s.db, "DescribeStream", fmt.Sprintf(`{"StreamArn":%q}`, arn)).raw); diff != "" {
		t.Error(diff)
	}
}

// summary returns the stream in a table's description.
func summary(d *types.TableDescription) string {
	spec := "none"
	if d.StreamSpecification != nil {
		spec = fmt.Sprintf("%t %s", aws.ToBool(d.StreamSpecification.StreamEnabled), d.StreamSpecification.StreamViewType)
	}
	return fmt.Sprintf("%s %s %s", spec, aws.ToString(d.LatestStreamArn), aws.ToString(d.LatestStreamLabel))
}

// TestStreamLifecycle checks that a disabled stream can still be read, that enabling creates another stream, and that
// the streams of a deleted table exist for a day.
func TestStreamLifecycle(t *testing.T) {
	t.Parallel()
	files := vfs.NewCrashableMem()
	s := openStreaming(t, onDisk(t, files))
	arns := []string{s.create(t, "things", types.StreamViewTypeKeysOnly)}
	s.put(t, "things", sdkItem{"pk": str("1")})
	open := s.iterator(t, arns[0], streamtypes.ShardIteratorTypeTrimHorizon, nil)
	s.switchStream(t, "things", "")
	s.put(t, "things", sdkItem{"pk": str("unseen")})
	arns = append(arns, s.switchStream(t, "things", types.StreamViewTypeNewImage))
	s.put(t, "things", sdkItem{"pk": str("2")})
	s.switchStream(t, "things", "")
	described, err := s.tables.DescribeTable(t.Context(), &sdk.DescribeTableInput{TableName: aws.String("things")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(described.Table), "none "+arns[1]+" "+arns[1][len(arns[1])-23:]; got != want {
		t.Errorf("switched off: got %s, want %s", got, want)
	}
	arns = append(arns, s.switchStream(t, "things", types.StreamViewTypeNewAndOldImages)) // created in the same millisecond
	s.put(t, "things", sdkItem{"pk": str("3")})
	deleted, err := s.tables.DeleteTable(t.Context(), &sdk.DeleteTableInput{TableName: aws.String("things")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(deleted.TableDescription), "true NEW_AND_OLD_IMAGES "+arns[2]+" "+arns[2][len(arns[2])-23:]; got != want {
		t.Errorf("deleted: got %s, want %s", got, want)
	}
	arns = append(arns, s.create(t, "things", types.StreamViewTypeOldImage))
	s.put(t, "things", sdkItem{"pk": str("4")})

	check := func(s *streaming) {
		t.Helper()
		for i, arn := range arns {
			if got, want := brief(s.all(t, arn)), fmt.Sprintf("INSERT %d", i+1); got != want {
				t.Errorf("stream %d: got %s, want %s", i, got, want)
			}
			d := s.describe(t, arn)
			status, end := streamtypes.StreamStatusDisabled, "100000000000000000001"
			if i == len(arns)-1 {
				status, end = streamtypes.StreamStatusEnabled, ""
			}
			if got := aws.ToString(d.Shards[0].SequenceNumberRange.EndingSequenceNumber); d.StreamStatus != status || got != end {
				t.Errorf("stream %d: %s, ends at %q", i, d.StreamStatus, got)
			}
		}
		if records, next := s.get(t, open, 0); brief(records) != "INSERT 1" || next != "" {
			t.Errorf("closed: got %s, then %q", brief(records), next)
		}
	}
	check(s)
	reopened := openStreaming(t, onDisk(t, files.CrashClone(vfs.CrashCloneCfg{})))
	check(reopened)

	for _, s := range []*streaming{s, reopened} {
		s.clock.advance(24 * time.Hour)
		if got := s.list(t, nil); !cmp.Equal(got, arns[3:]) {
			t.Errorf("a day later: %v", got)
		}
		_, err := s.streams.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &arns[0]})
		var gone *streamtypes.ResourceNotFoundException
		if !errors.As(err, &gone) {
			t.Errorf("a day later: %v", err)
		}
		if err := s.db.sweep(); err != nil {
			t.Fatal(err)
		}
		if streams, records := s.db.countKeys(t, datafolder.SpaceStream), s.db.countKeys(t, datafolder.SpaceStreamRecord); streams != 1 || records != 0 {
			t.Errorf("a day later %d streams and %d records are stored", streams, records)
		}
	}
}

// countKeys counts the stored keys of a space.
func (db *DB) countKeys(t *testing.T, space byte) (n int) {
	t.Helper()
	if err := datafolder.Each(db.store.DB, []byte{space}, func(_, _ []byte) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// list returns the streams of ListStreams.
func (s *streaming) list(t *testing.T, table *string) []string {
	t.Helper()
	var arns []string
	all, err := s.streams.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{TableName: table})
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range all.Streams {
		if !strings.HasSuffix(*stream.StreamArn, ":table/"+*stream.TableName+"/stream/"+*stream.StreamLabel) {
			t.Errorf("got %s %s %s", *stream.StreamArn, *stream.TableName, *stream.StreamLabel)
		}
		arns = append(arns, *stream.StreamArn)
	}
	return arns
}

func TestListStreams(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	if got := mustStream(t, s.db, "ListStreams", `{}`).raw; got != `{"Streams":[]}` {
		t.Errorf("got %s", got)
	}
	must(t, s.db, "CreateTable", hashTable) // without a stream
	var all, ofThings []string
	for _, name := range []string{"a", "b", "things", "z"} {
		all = append(all, s.create(t, name+"-table", types.StreamViewTypeKeysOnly))
	}
	s.switchStream(t, "things-table", "")
	again := s.switchStream(t, "things-table", types.StreamViewTypeKeysOnly)
	ofThings = append(ofThings, all[2], again)
	all = append(all[:3], again, all[3])
	if diff := cmp.Diff(all, s.list(t, nil)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(ofThings, s.list(t, aws.String("things-table"))); diff != "" {
		t.Error(diff)
	}
	if got := s.list(t, aws.String("hash")); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestSwitchStreamErrors(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	must(t, s.db, "CreateTable", strings.Replace(hashTable, `"PAY_PER_REQUEST"`, `"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`, 1))
	s.create(t, "things", types.StreamViewTypeNewImage)
	for _, test := range []struct{ table, change, want string }{
		{"things", `{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}`, "ValidationException"},
		{"things", `{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`, "ValidationException"},
		{"things", `{"StreamEnabled":false,"StreamViewType":"NEW_IMAGE"}`, "ValidationException"},
		{"hash", `{"StreamEnabled":false}`, "ValidationException"},
		{"hash", `{"StreamEnabled":true}`, "ValidationException"},
		{"hash", `{"StreamViewType":"NEW_IMAGE"}`, "ValidationException"},
		{"hash", `{"StreamEnabled":true,"StreamViewType":"ALL"}`, "ValidationException"},
		{"hash", `{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"ProvisionedThroughput":{"ReadCapacityUnits":2,"WriteCapacityUnits":2}`, "ValidationException"},
		{"hash", `{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"index"}}]`, "ValidationException"},
		{"none", `{"StreamEnabled":false}`, "ResourceNotFoundException"},
	} {
		if got := call(t, s.db, "UpdateTable", fmt.Sprintf(`{"TableName":%q,"StreamSpecification":%s}`, test.table, test.change)); got.errorType() != test.want {
			t.Errorf("%s: got %s, want %s", test.change, got.raw, test.want)
		}
	}
	if got := s.list(t, nil); len(got) != 1 {
		t.Errorf("streams %v", got)
	}
}
