package projecttest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/cleanup"
)

// Cleaner is the Cleanup that handles the events of a fixture.
type Cleaner struct {
	*cleanup.Cleanup
	Fixture       *Fixture
	Conversations string // the name of the conversations table
}

// NewCleaner returns a Cleaner with an empty conversations table.
func NewCleaner(t *testing.T, f *Fixture) *Cleaner {
	t.Helper()
	c := &Cleaner{Fixture: f, Conversations: slicetest.Table(t, f.SDK, "conversations")}
	c.Cleanup = c.WithClient(f.SDK)
	return c
}

// WithClient returns a cleanup that uses an SDK client and does not wait between attempts.
func (c *Cleaner) WithClient(sdk *dynamodb.Client) *cleanup.Cleanup {
	return c.WithClients(sdk, c.Fixture.S3, c.Fixture.Clock.Now)
}

// WithClients returns a cleanup that uses SDK clients and does not wait between attempts. now is the clock by which the
// sweep computes the age of objects: S3 knows only the real time.
func (c *Cleaner) WithClients(sdk *dynamodb.Client, objects *s3.Client, now clock.Clock) *cleanup.Cleanup {
	client := db.Wrap(sdk, c.Fixture.Clock.Now)
	return cleanup.New(cleanup.Deps{
		DB: client, Projects: client.Table(c.Fixture.Tables.Projects), Contents: client.Table(c.Fixture.Tables.Contents),
		Conversations: client.Table(c.Conversations), Bucket: objectstore.Wrap(s3test.Of(objects)).Bucket(c.Fixture.Bucket),
		Clock: now, Logger: slog.New(c.Fixture.Log),
		Sleep: func(ctx context.Context, _ time.Duration) bool { return ctx.Err() == nil },
	})
}

// Events returns the stored events as stream images, in order.
func (c *Cleaner) Events() []db.Item {
	c.Fixture.T.Helper()
	stored := c.Fixture.Dump(c.Fixture.Tables.Events)
	keys := slices.SortedFunc(maps.Keys(stored), func(a, b db.Key) int { return strings.Compare(a.SK, b.SK) })
	images := make([]db.Item, len(keys))
	for i, key := range keys {
		images[i] = stored[key]
	}
	return images
}

// HandleAll handles all stored events.
func (c *Cleaner) HandleAll() {
	c.Fixture.T.Helper()
	for _, image := range c.Events() {
		if err := c.Handle(c.Fixture.T.Context(), InsertRecord(image)); err != nil {
			c.Fixture.T.Fatal(err)
		}
	}
}

// InsertRecord returns the stream record of a new item.
func InsertRecord(image db.Item) lambdafn.StreamRecord {
	return lambdafn.StreamRecord{SequenceNumber: "1", EventName: "INSERT", NewImage: image}
}

// Put writes items directly to DynamoDB.
func (f *Fixture) Put(table string, items map[db.Key]db.Item) {
	f.T.Helper()
	var requests []types.WriteRequest
	for key, item := range items {
		full := maps.Clone(item)
		full["pk"], full["sk"] = &types.AttributeValueMemberS{Value: key.PK}, &types.AttributeValueMemberS{Value: key.SK}
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: full}})
	}
	for batch := range slices.Chunk(requests, 25) {
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: batch}}
		out, err := f.SDK.BatchWriteItem(f.T.Context(), in)
		if err != nil || len(out.UnprocessedItems) > 0 {
			f.T.Fatalf("BatchWriteItem returned %v, %v", out, err)
		}
	}
}

// Old is the age by which all objects are older than a day.
const Old = 25 * time.Hour

// Sweep runs the sweep as if the objects had an age.
func (c *Cleaner) Sweep(age time.Duration) error {
	f := c.Fixture
	return c.WithClients(f.SDK, f.S3, func() time.Time { return clock.System().Add(age) }).Sweep(f.T.Context())
}

// PutObject stores an object directly in S3.
func (f *Fixture) PutObject(key string, data []byte) {
	f.T.Helper()
	in := &s3.PutObjectInput{Bucket: &f.Bucket, Key: &key, Body: bytes.NewReader(data)}
	if _, err := f.S3.PutObject(f.T.Context(), in); err != nil {
		f.T.Fatal(err)
	}
}

// Expiries returns the expiry of each chunk of a project, in seconds since 1970. 0 means that the chunk does not
// expire.
func (f *Fixture) Expiries(projectID string) map[string]int64 {
	f.T.Helper()
	all := map[string]int64{}
	for key, item := range f.Dump(f.Tables.Contents) {
		if key.PK != db.ProjectPartition(projectID).PK {
			continue
		}
		all[key.SK] = 0
		if n, ok := item["expiresAt"].(*types.AttributeValueMemberN); ok {
			var at int64
			_, _ = fmt.Sscan(n.Value, &at)
			all[key.SK] = at
		}
	}
	return all
}
