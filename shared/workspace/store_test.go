package workspace_test

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123_456_789, time.UTC)

func newTable(t *testing.T) (*db.Client, db.Table) {
	t.Helper()
	sdk := dynamotest.Start(t)
	client := db.Wrap(sdk, func() time.Time { return noon })
	return client, client.Table(slicetest.Table(t, sdk, "projects"))
}

func getRecord[T any](t *testing.T, table db.Table, key db.Key) T {
	t.Helper()
	item, err := table.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("%v: %v", key, err)
	}
	record, err := db.Decode[T](item)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func TestPersonalStoresBothCopiesOfMembership(t *testing.T) {
	t.Parallel()
	client, table := newTable(t)
	ids := id.NewGenerator(func() time.Time { return noon }, rand.Reader)
	ws, ada := ids.New(id.Workspace), ids.New(id.User)
	writes := workspace.Personal(table, ws, ada, "ada", noon)
	if err := client.Tx(writes...).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := clock.Stamp(noon)
	record := workspace.Workspace{ID: ws, Name: "ada's workspace", Personal: true, Owners: 1, Members: 1, CreatedAt: at}
	if diff := cmp.Diff(record, getRecord[workspace.Workspace](t, table, db.WorkspaceKey(ws))); diff != "" {
		t.Errorf("workspace mismatch (-want +got):\n%s", diff)
	}
	membership := workspace.Membership{
		WorkspaceID: ws, UserID: ada, Username: "ada", Role: workspace.Owner, AddedAt: at,
		Personal: true, CreatedAt: at,
	}
	for _, key := range []db.Key{db.MemberKey(ws, ada), db.MembershipKey(ada, ws)} {
		if diff := cmp.Diff(membership, getRecord[workspace.Membership](t, table, key)); diff != "" {
			t.Errorf("membership %v mismatch (-want +got):\n%s", key, diff)
		}
	}
	if err := client.Tx(writes...).Commit(t.Context()); !errors.Is(err, db.ErrConditionFailed) {
		t.Errorf("second creation: got error %v, want ErrConditionFailed", err)
	}
	swapped := workspace.Personal(table, ada, ws, "ada", noon)
	if err := client.Tx(swapped...).Commit(t.Context()); !errors.Is(err, db.ErrInvalidKey) {
		t.Errorf("workspace ID and user ID swapped: got error %v, want ErrInvalidKey", err)
	}
}
