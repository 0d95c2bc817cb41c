package workspace_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

func TestPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	team := f.newUsers("b", "c", "d", "e", "f")
	ws := ada.create("Team")
	wantMembers := []string{ada.id}
	for _, u := range team {
		ada.add(ws, u, workspace.Member)
		wantMembers = append(wantMembers, u.id)
	}
	wantWorkspaces := []string{ada.personal, ws, ada.create("1"), ada.create("2"), ada.create("3"), ada.create("4")}
	for _, list := range []struct {
		path, name, idField string
		want                []string
	}{
		{path: "/api/workspaces", name: "workspaces", idField: "id", want: wantWorkspaces},
		{path: "/api/workspaces/" + ws + "/members", name: "members", idField: "userId", want: wantMembers},
	} {
		for _, limit := range []string{"1", "2", "3", "4", "6", "100"} {
			var got []string
			furtherPages := 0
			for cursor := ""; ; furtherPages++ {
				page := ada.Do(http.MethodGet, list.path+"?limit="+limit+cursor, nil).Want(t, http.StatusOK)
				got = append(got, page.Texts(list.name, list.idField)...)
				if page.Text("nextCursor") == "" {
					break
				}
				cursor = "&cursor=" + page.Text("nextCursor")
				if len(page.List(list.name)) == 0 || furtherPages > 10 {
					t.Fatalf("%s, limit %s: page %d is empty, or the list has too many pages", list.name, limit, furtherPages+1)
				}
			}
			if diff := cmp.Diff(list.want, got); diff != "" {
				t.Errorf("%s, limit %s, mismatch (-want +got):\n%s", list.name, limit, diff)
			}
			if limit == "6" && furtherPages != 0 {
				t.Errorf("%s: the only page has a cursor", list.name)
			}
		}
	}
}

// A cursor is valid only for its list and its user.
func TestCursorOfAnotherList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Member})
	second := ada.createTeam(map[*user]workspace.Role{grace: workspace.Member})
	members := "/api/workspaces/" + ws + "/members"
	workspacesCursor := ada.Do(http.MethodGet, "/api/workspaces?limit=1", nil).Want(t, http.StatusOK).Text("nextCursor")
	membersCursor := ada.Do(http.MethodGet, members+"?limit=1", nil).Want(t, http.StatusOK).Text("nextCursor")
	for _, r := range []response{
		grace.Do(http.MethodGet, "/api/workspaces?cursor="+workspacesCursor, nil),
		grace.Do(http.MethodGet, members+"?cursor="+membersCursor, nil),
		ada.Do(http.MethodGet, "/api/workspaces?cursor="+membersCursor, nil),
		ada.Do(http.MethodGet, members+"?cursor="+workspacesCursor, nil),
		ada.Do(http.MethodGet, "/api/workspaces/"+second+"/members?cursor="+membersCursor, nil),
	} {
		r.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	ada.remove(ws, ada).Want(t, http.StatusConflict)
	ada.Do(http.MethodGet, members+"?cursor="+membersCursor, nil).Want(t, http.StatusOK)
}

// A request without a limit returns all members, even if that takes several DynamoDB calls.
func TestListManyMembers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.skipConsistencyCheck = true
	ada := f.newUser("ada")
	ws := ada.create("Team")
	want := []string{ada.id}
	var requests []types.WriteRequest
	for range 3500 {
		m := workspace.Membership{
			WorkspaceID: ws, UserID: f.ids.New(id.User), Username: strings.Repeat("x", 64),
			Role: workspace.Viewer,
		}
		item, err := db.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		key := db.MemberKey(ws, m.UserID)
		item[db.AttrPK] = &types.AttributeValueMemberS{Value: key.PK}
		item[db.AttrSK] = &types.AttributeValueMemberS{Value: key.SK}
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		want = append(want, m.UserID)
	}
	for chunk := range slices.Chunk(requests, 25) {
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{f.projectsTable: chunk}}
		if _, err := f.sdk.BatchWriteItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	list := ada.members(ws).Want(t, http.StatusOK)
	if diff := cmp.Diff(want, list.Texts("members", "userId")); diff != "" {
		t.Errorf("members mismatch (-want +got):\n%s", diff)
	}
	if list.Text("nextCursor") != "" {
		t.Error("the complete list has a cursor")
	}
	wantCalls(t, "listing all members", list, 3)
	page := ada.Do(http.MethodGet, "/api/workspaces/"+ws+"/members?limit=100", nil).Want(t, http.StatusOK)
	wantCalls(t, "listing a page", page, 2)
	if n := len(page.List("members")); n != 100 || page.Text("nextCursor") == "" {
		t.Errorf("got a page of %d members and cursor %q, want 100 members and a cursor", n, page.Text("nextCursor"))
	}
}
