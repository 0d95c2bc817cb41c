package db_test

import (
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/config"
	"devplatform/shared/db"
)

// due is an index of little more than the keys.
var due = db.Index{Name: "due", PK: "due", SK: "dueAt"}

// newIndexed makes a table with that index.
func newIndexed(t *testing.T) (*db.Client, db.Table, *hands) {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	h := &hands{}
	h.at.Store(1_763_640_000)
	client := db.New(config.AWS{Region: "us-east-1", AccessKeyID: "test", SecretAccessKey: "test", DynamoDBEndpoint: endpoint}, h.now)
	sdk, name := dynamotest.Client(endpoint), "db-test-"+rand.Text()
	dynamotest.CreateTable(t, sdk, name, "pk", "sk")
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := sdk.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName:            &name,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk"), attribute(due.PK), attribute(due.SK)},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName:  &due.Name,
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{db.AttrExpiresAt}},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: &due.PK, KeyType: types.KeyTypeHash}, {AttributeName: &due.SK, KeyType: types.KeyTypeRange},
			},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; { // the index is filled behind the table's back
		out, err := sdk.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Table.GlobalSecondaryIndexes) == 1 && out.Table.GlobalSecondaryIndexes[0].IndexStatus == types.IndexStatusActive {
			return client, client.Table(name), h
		}
		if time.Now().After(deadline) {
			t.Fatal("the index does not become active")
		}
	}
}

// queryIndex reads all pages, of which all but the last must be full, and returns the items' paths and the
// number of pages.
func queryIndex(t *testing.T, table db.Table, q db.IndexQuery) (paths []string, pages int) {
	t.Helper()
	files := db.FilesOf(prj, "")
	for {
		page, err := table.QueryIndex(t.Context(), q)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if q.Limit > 0 && (len(page.Items) > q.Limit || (len(page.Items) < q.Limit && !page.Next.IsZero())) {
			t.Fatalf("a page of %d, next %v", len(page.Items), page.Next)
		}
		for _, item := range page.Items {
			paths = append(paths, files.Rest(db.KeyOf(item)))
		}
		pages++
		if page.Next.IsZero() {
			return paths, pages
		}
		q.After = page.Next
	}
}

func TestQueryIndex(t *testing.T) {
	t.Parallel()
	c, table, h := newIndexed(t)
	put := func(path, partition, at string, expires bool) {
		record := db.Item{"v": text("x")}
		if partition != "" {
			record[due.PK], record[due.SK] = text(partition), text(at)
		}
		if expires {
			record[db.AttrExpiresAt] = db.ExpiresAt(h.now().Unix())
		}
		mustDo(t, c, table.Put(db.FileKey(prj, path), record))
	}
	put("/d", "DUE#0", "2026-01-01", false)
	put("/c", "DUE#0", "2026-01-01", false)
	put("/b", "DUE#0", "2026-01-02", false)
	put("/a", "DUE#0", "2026-01-03", false)
	put("/other", "DUE#1", "2026-01-01", false)
	put("/none", "", "", false)
	put("/e", "DUE#0", "2026-01-01", true)
	put("/f", "DUE#0", "2026-01-02", true)
	for _, limit := range []int{0, 1, 2, 3, 4, 5} {
		for upto, want := range map[string][]string{
			"": {"/c", "/d", "/b", "/a"}, "2026-01-02": {"/c", "/d", "/b"}, "2026-01-02T": {"/c", "/d", "/b"}, "2025": nil, "2027": {"/c", "/d", "/b", "/a"},
		} {
			got, _ := queryIndex(t, table, db.IndexQuery{Index: due, Partition: "DUE#0", Upto: upto, Limit: limit})
			slices.Sort(got[:min(2, len(got))]) // which of two at one time comes first is DynamoDB's business
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("up to %q, %d at once: %s", upto, limit, diff)
			}
		}
	}
	page, err := table.QueryIndex(t.Context(), db.IndexQuery{Index: due, Partition: "DUE#1"})
	if err != nil || len(page.Items) != 1 || len(page.Items[0]) != 4 {
		t.Errorf("%v, %v", page, err)
	}
	ctx := db.CountCalls(t.Context())
	if page, err := table.QueryIndex(ctx, db.IndexQuery{Index: due}); err != nil || page.Items != nil || db.Calls(ctx) != 0 {
		t.Errorf("without partition: %v, %v after %d calls", page, err, db.Calls(ctx))
	}
	if _, err := table.QueryIndex(t.Context(), db.IndexQuery{Index: db.Index{Name: "none", PK: "a", SK: "b"}, Partition: "x"}); err == nil {
		t.Error("no error for a missing index")
	}
}
