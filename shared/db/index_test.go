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
	"devplatform/shared/db"
)

// due is an index that projects the keys and the expiry only.
var due = db.Index{Name: "due", PK: "due", SK: "dueAt"}

// newIndexedTable creates a table with the index due in a new DynamoDB.
func newIndexedTable(t *testing.T) (*db.Client, db.Table, *fakeClock) {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	clk := newFakeClock()
	client := db.New(awsConfig(endpoint), clk.now)
	sdk, name := dynamotest.Client(endpoint), "db-test-"+rand.Text()
	dynamotest.CreateTable(t, sdk, name, "pk", "sk")
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := sdk.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName: &name,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute("pk"), attribute("sk"), attribute(due.PK), attribute(due.SK),
		},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: &due.Name,
			Projection: &types.Projection{
				ProjectionType:   types.ProjectionTypeInclude,
				NonKeyAttributes: []string{db.AttrExpiresAt},
			},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: &due.PK, KeyType: types.KeyTypeHash},
				{AttributeName: &due.SK, KeyType: types.KeyTypeRange},
			},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; { // DynamoDB creates the index in the background
		out, err := sdk.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		indexes := out.Table.GlobalSecondaryIndexes
		if len(indexes) == 1 && indexes[0].IndexStatus == types.IndexStatusActive {
			return client, client.Table(name), clk
		}
		if time.Now().After(deadline) {
			t.Fatal("the index did not become active within 10 seconds")
		}
	}
}

// queryIndex reads all pages and returns the paths of the items. It checks that all pages but the last are full.
func queryIndex(t *testing.T, table db.Table, q db.IndexQuery) (paths []string) {
	t.Helper()
	files := db.FilesOf(prj, "")
	for {
		page, err := table.QueryIndex(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if q.Limit > 0 && (len(page.Items) > q.Limit || (len(page.Items) < q.Limit && !page.Next.IsZero())) {
			t.Fatalf("got a page of %d items with next page %v, want %d items", len(page.Items), page.Next, q.Limit)
		}
		for _, item := range page.Items {
			paths = append(paths, files.Rest(db.KeyOf(item)))
		}
		if page.Next.IsZero() {
			return paths
		}
		q.After = page.Next
	}
}

func TestQueryIndex(t *testing.T) {
	t.Parallel()
	client, table, clk := newIndexedTable(t)
	put := func(path, partition, at string, expires bool) {
		record := db.Item{"v": text("x")}
		if partition != "" {
			record[due.PK], record[due.SK] = text(partition), text(at)
		}
		if expires {
			record[db.AttrExpiresAt] = db.ExpiresAt(clk.now().Unix())
		}
		mustDo(t, client, table.Put(db.FileKey(prj, path), record))
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
			"":            {"/c", "/d", "/b", "/a"},
			"2025":        nil,
			"2026-01-02":  {"/c", "/d", "/b"},
			"2026-01-02T": {"/c", "/d", "/b"},
			"2027":        {"/c", "/d", "/b", "/a"},
		} {
			got := queryIndex(t, table, db.IndexQuery{Index: due, Partition: "DUE#0", Upto: upto, Limit: limit})
			slices.Sort(got[:min(2, len(got))]) // the order of items with the same sort key is not defined
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("up to %q with limit %d (-want +got):\n%s", upto, limit, diff)
			}
		}
	}
	page, err := table.QueryIndex(t.Context(), db.IndexQuery{Index: due, Partition: "DUE#1"})
	if err != nil || len(page.Items) != 1 || len(page.Items[0]) != 4 {
		t.Errorf("got %v, %v, want one item with the four key attributes", page, err)
	}
	ctx := db.CountCalls(t.Context())
	page, err = table.QueryIndex(ctx, db.IndexQuery{Index: due})
	if err != nil || page.Items != nil || db.Calls(ctx) != 0 {
		t.Errorf("without a partition: got %v, %v after %d calls, want no items and no calls", page, err, db.Calls(ctx))
	}
	missing := db.Index{Name: "missing", PK: "a", SK: "b"}
	if _, err := table.QueryIndex(t.Context(), db.IndexQuery{Index: missing, Partition: "x"}); err == nil {
		t.Error("got no error for a missing index")
	}
}
