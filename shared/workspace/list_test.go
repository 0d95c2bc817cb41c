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
	w := newWorld(t)
	ada := w.person("ada")
	team := w.people("b", "c", "d", "e", "f")
	ws := ada.create("Team")
	wantMembers := []string{ada.id}
	for _, p := range team {
		ada.add(ws, p, workspace.Member).Want(t, http.StatusCreated)
		wantMembers = append(wantMembers, p.id)
	}
	wantPlaces := []string{ada.home, ws, ada.create("1"), ada.create("2"), ada.create("3"), ada.create("4")}
	for _, list := range []struct {
		path, name, field string
		want              []string
	}{
		{"/api/workspaces", "workspaces", "id", wantPlaces},
		{"/api/workspaces/" + ws + "/members", "members", "userId", wantMembers},
	} {
		for _, limit := range []string{"1", "2", "3", "4", "6", "100"} {
			var got []string
			pages := 0
			for next := ""; ; pages++ {
				a := ada.Do(http.MethodGet, list.path+"?limit="+limit+next, nil).Want(t, http.StatusOK)
				got = append(got, a.Texts(list.name, list.field)...)
				if a.Text("nextCursor") == "" {
					break
				}
				next = "&cursor=" + a.Text("nextCursor")
				if len(a.List(list.name)) == 0 || pages > 10 {
					t.Fatalf("limit %s: an empty page has a cursor", limit)
				}
			}
			if diff := cmp.Diff(list.want, got); diff != "" {
				t.Errorf("%s, limit %s: %s", list.name, limit, diff)
			}
			if limit == "6" && pages != 0 {
				t.Errorf("%s: a complete page has a cursor", list.name)
			}
		}
	}
}

// A cursor is valid only for its list and its user.
func TestCursorOfAnotherList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.person("ada"), w.person("grace")
	ws := ada.team(map[*person]workspace.Role{grace: workspace.Member})
	second := ada.team(map[*person]workspace.Role{grace: workspace.Member})
	members := "/api/workspaces/" + ws + "/members"
	ofPlaces := ada.Do(http.MethodGet, "/api/workspaces?limit=1", nil).Want(t, http.StatusOK).Text("nextCursor")
	ofMembers := ada.Do(http.MethodGet, members+"?limit=1", nil).Want(t, http.StatusOK).Text("nextCursor")
	for _, a := range []answer{
		grace.Do(http.MethodGet, "/api/workspaces?cursor="+ofPlaces, nil), grace.Do(http.MethodGet, members+"?cursor="+ofMembers, nil),
		ada.Do(http.MethodGet, "/api/workspaces?cursor="+ofMembers, nil), ada.Do(http.MethodGet, members+"?cursor="+ofPlaces, nil),
		ada.Do(http.MethodGet, "/api/workspaces/"+second+"/members?cursor="+ofMembers, nil),
	} {
		a.Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	ada.remove(ws, ada).Want(t, http.StatusConflict)
	ada.Do(http.MethodGet, members+"?cursor="+ofMembers, nil).Want(t, http.StatusOK)
}

// A workspace whose members need several DynamoDB calls is listed completely, unless there is a limit.
func TestListManyMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unaudited = true
	ada := w.person("ada")
	ws := ada.create("Team")
	want := []string{ada.id}
	var requests []types.WriteRequest
	for range 3500 {
		m := workspace.Membership{WorkspaceID: ws, UserID: w.ids.New(id.User), Username: strings.Repeat("x", 64), Role: workspace.Viewer, Name: "Team"}
		item, err := db.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		key := db.MemberKey(ws, m.UserID)
		item[db.AttrPK], item[db.AttrSK] = &types.AttributeValueMemberS{Value: key.PK}, &types.AttributeValueMemberS{Value: key.SK}
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		want = append(want, m.UserID)
	}
	for chunk := range slices.Chunk(requests, 25) {
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.projects: chunk}}
		if _, err := w.sdk.BatchWriteItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	list := ada.members(ws).Want(t, http.StatusOK)
	if diff := cmp.Diff(want, list.Texts("members", "userId")); diff != "" || list.Text("nextCursor") != "" {
		t.Errorf("members: %s", diff)
	}
	wantCalls(t, "listing all members", list, 3)
	page := ada.Do(http.MethodGet, "/api/workspaces/"+ws+"/members?limit=100", nil).Want(t, http.StatusOK)
	wantCalls(t, "listing a page", page, 2)
	if n := len(page.List("members")); n != 100 || page.Text("nextCursor") == "" {
		t.Errorf("a page of %d", n)
	}
}
