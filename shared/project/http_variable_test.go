package project_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// The list is returned as it was set, with an entity tag. A change has one event, which contains no values.
func TestVariables(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	project := ada.Project("", "App", workspace.Team)
	created := ada.Get(projecttest.URL(project)).Text("updatedAt")
	read := func(want ...object) response {
		t.Helper()
		r := ada.Get(variablesURL(project)).Want(t, http.StatusOK)
		list := []object{}
		for _, v := range r.List("variables") {
			list = append(list, v)
		}
		if diff := cmp.Diff(append([]object{}, want...), list); diff != "" {
			t.Errorf("variables: mismatch (-want +got):\n%s", diff)
		}
		return r
	}
	empty := read()
	if empty.Header.Get("ETag") != `"0"` || empty.Calls != 2 {
		t.Errorf("got the ETag %s and %d calls, want \"0\" and 2", empty.Header.Get("ETag"), empty.Calls)
	}
	events := len(f.StoredEvents())
	ada.SetVariables(project, []object{}).Want(t, http.StatusOK)
	list := []object{
		variable("VITE_B", "the value of b", "all"), variable("VITE_A", "", "production"),
		variable("VITE_A", "é\n\"$1", "preview"),
	}
	if len(f.StoredEvents()) != events {
		t.Error("a list that did not change has an event")
	}
	f.Clock.Advance(time.Second)
	set := ada.SetVariables(project, list, slicetest.Header("If-Match", `"0"`)).Want(t, http.StatusOK)
	if set.Calls != 3 || set.Depth != 3 {
		t.Errorf("a change made %d calls of depth %d, want 3 and 3", set.Calls, set.Depth)
	}
	r := read(list...)
	if r.Raw != set.Raw || r.Header.Get("ETag") != `"1"` || set.Header.Get("ETag") != `"1"` {
		t.Errorf("got %s %s, then %s %s, want the same twice, and \"1\"", set.Raw, set.Header, r.Raw, r.Header)
	}
	if got := ada.Get(projecttest.URL(project)).Text("updatedAt"); got != f.Timestamp() || got == created {
		t.Errorf("got updatedAt %s, want %s", got, f.Timestamp())
	}
	stored := f.StoredEvents()
	if len(stored) != events+1 || strings.Contains(string(stored[events].Payload), "value of b") {
		t.Fatalf("got the events %+v, want one more without the value", stored)
	}
	e := projecttest.DecodePayload(t, stored[events])
	if e.Type != event.ProjectUpdated || !cmp.Equal(e.Data.Changes, []string{"variables"}) {
		t.Errorf("got the event %+v, want project.updated with the change variables", e)
	}
	again := ada.SetVariables(project, list)
	if again.Header.Get("ETag") != `"1"` || again.Calls != 2 || len(f.StoredEvents()) != events+1 {
		t.Errorf("the same list again: got %d calls and ETag %s, want no change", again.Calls, again.Header.Get("ETag"))
	}
	ada.SetVariables(project, nil).Want(t, http.StatusBadRequest)
	ada.SetVariables(project, []object{}).Want(t, http.StatusOK)
	if r := read(); r.Header.Get("ETag") != `"2"` {
		t.Errorf("got the ETag %s after the removal of all, want \"2\"", r.Header.Get("ETag"))
	}
}

func TestVariablePreconditions(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	project := ada.Project("", "App", workspace.Team)
	first, second := []object{variable("VITE_A", "1", "all")}, []object{variable("VITE_A", "2", "all")}
	ada.SetVariables(project, first).Want(t, http.StatusOK)
	for header, value := range map[string]string{"If-Match": `"0"`, "If-None-Match": "*"} {
		for _, list := range [][]object{first, second} {
			r := ada.SetVariables(project, list, slicetest.Header(header, value))
			r.Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
		}
	}
	ada.SetVariables(project, second, slicetest.Header("If-Match", "\"")).Want(t, http.StatusBadRequest)
	ada.SetVariables(project, second, slicetest.Header("If-Match", `"1"`)).Want(t, http.StatusOK)
	known := ada.Do(http.MethodGet, variablesURL(project), nil, slicetest.Header("If-None-Match", `"2"`))
	if known.Want(t, http.StatusNotModified); known.Raw != "" || known.Header.Get("ETag") != `"2"` {
		t.Errorf("got %q with the ETag %s, want no body and \"2\"", known.Raw, known.Header.Get("ETag"))
	}
	// Of several changes of the same version, one succeeds.
	responses := slicetest.Concurrently(6, func(i int) response {
		list := []object{variable("VITE_A", fmt.Sprint("concurrent ", i), "all")}
		return ada.SetVariables(project, list, slicetest.Header("If-Match", `"2"`))
	})
	projecttest.WantStatuses(t, responses, map[int]int{http.StatusOK: 1, http.StatusPreconditionFailed: 5})
	// Without a precondition, all succeed, one after the other.
	before := len(f.StoredEvents())
	responses = slicetest.Concurrently(6, func(i int) response {
		return ada.SetVariables(project, []object{variable("VITE_A", fmt.Sprint("later ", i), "all")})
	})
	projecttest.WantStatuses(t, responses, map[int]int{http.StatusOK: 6})
	tags := map[string]bool{}
	for _, r := range responses {
		tags[r.Header.Get("ETag")] = true
	}
	if len(tags) != 6 || !tags[`"9"`] || len(f.StoredEvents()) != before+6 {
		t.Errorf("got the entity tags %v and %d events, want 6 each", tags, len(f.StoredEvents())-before)
	}
}

// The variables and the project are read by two calls. A change between them is not overwritten.
func TestVariablesChangeBetweenReads(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	wire := f.UseProxy(nil)
	project := ada.Project("", "App", workspace.Team)
	for round, other := range []string{"first", "second"} { // the first one creates the item
		tag := fmt.Sprintf(`"%d"`, round)
		change := func() {
			ada.SetVariables(project, []object{variable("VITE_A", other, "all")}).Want(t, http.StatusOK)
		}
		wire.Before("BatchGetItem", func() { wire.Before("BatchGetItem", change) })
		r := ada.SetVariables(project, []object{variable("VITE_A", "lost", "all")}, slicetest.Header("If-Match", tag))
		r.Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
		if got := ada.Get(variablesURL(project)).Texts("variables", "value"); !cmp.Equal(got, []string{other}) {
			t.Errorf("got the values %v, want %s", got, other)
		}
	}
}

// Every invalid list is refused with an error that names its fields, without values, and changes nothing.
func TestInvalidVariables(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	project := ada.Project("", "App", workspace.Team)
	long := func(n int) string { return strings.Repeat("x", n) }
	many := func(n int) (list []object) {
		for i := range n {
			list = append(list, variable(fmt.Sprint("VITE_", i), "", "all"))
		}
		return list
	}
	one := func(name, value, target string) []object { return []object{variable(name, value, target)} }
	raw := func(fields string) string { return `{"variables":[{` + fields + `}]}` }
	const secret = "dvp_01K9ZQ3V7M8T5XW2ABCDEFGHJKaB1aB1aB1aB1aB1aB1aB1aB1aB1aB1aB123456"
	for _, tc := range []struct {
		body  any
		error string
	}{
		{nil, "body: is required"},
		{object{}, "variables: is required"},
		{object{"variables": nil}, "variables: must be a list"},
		{object{"variables": object{}}, "variables: must be a list"},
		{`{"variables":[],"variables":[]}`, "variables: must not be given more than once"},
		{raw(`"name":"VITE_A","value":"","target":"all","secret":1`), "variables[0].secret: is not a known field"},
		{raw(`"name":"VITE_A","value":""`), "variables[0].target: is required"},
		{raw(`"name":"VITE_A","target":"all"`), "variables[0].value: is required"},
		{raw(`"name":"VITE_A","value":1,"target":"all"`), "variables[0].value: must be a string"},
		{raw(`"name":"VITE_A","value":"\u0000","target":"all"`), "variables[0].value: must not contain NUL"},
		{raw(`"name":"VITE_A\u0000","value":"","target":"all"`), "variables[0].name: must not contain NUL"},
		{raw(`"name":"VITE_A","value":"\ud800","target":"all"`), "variables[0].value: contains an incomplete"},
		{raw("\"name\":\"VITE_A\",\"value\":\"\xff\""), "variables[0].value: must be valid UTF-8"},
		{one("API_KEY", "", "all"), "variables[0].name: must be VITE_"},
		{one("VITE_"+long(124), "", "all"), "variables[0].name: must be at most 128"},
		{one("VITE_A", "", "staging"), "variables[0].target: must be one of"},
		{one("VITE_A", "x"+secret, "all"), "variables[0].value: must not contain a token"},
		{many(101), "variables: must have at most 100"},
		{one("VITE_A", long(32<<10-5), "all"), "variables: must have at most 32768 bytes"},
		{one("VITE_A", strings.Repeat("é", 16<<10), "all"), "variables: must have at most 32768 bytes"},
		{one("VITE_A", long(3<<20), "all"), "variables[0].value: must be at most 32768"},
		{
			[]object{variable("VITE_A", "1", "all"), variable("VITE_A", "2", "preview"), variable("VITE_A", "3", "all")},
			"variables[2].name: must not be given more than once",
		},
	} {
		if list, ok := tc.body.([]object); ok {
			tc.body = object{"variables": list}
		}
		r := ada.Do(http.MethodPut, variablesURL(project), tc.body)
		if r.Status != http.StatusBadRequest || !strings.Contains(r.Text("error"), tc.error) ||
			strings.Contains(r.Raw, secret) || len(r.Raw) > 4000 {
			t.Errorf("got %d %.300s, want 400 %s", r.Status, r.Raw, tc.error)
		}
	}
	if r := ada.Get(variablesURL(project)); r.Header.Get("ETag") != `"0"` {
		t.Errorf("an invalid request changed the variables: %s", r.Raw)
	}
	// The largest lists are accepted.
	ada.SetVariables(project, many(100)).Want(t, http.StatusOK)
	name := "VITE_" + strings.Repeat("A", 123)
	largest := []object{variable(name, strings.Repeat("\u2028\x01", 8<<10-32), "all")}
	if r := ada.SetVariables(project, largest).Want(t, http.StatusOK); ada.Get(variablesURL(project)).Raw != r.Raw {
		t.Error("the largest value is not returned as it was set")
	}
}

// Only members of the workspace see variables. No other response, event or log has their values.
func TestVariablesArePrivate(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	ada, outsider, viewer := f.NewUser("ada"), f.NewUser("outsider"), f.NewUser("viewer")
	team := ada.Workspace("Team")
	f.SetRole(team, viewer, workspace.Viewer)
	project := ada.Project(team, "App", workspace.Public)
	const value = "the value of the variable"
	ada.SetVariables(project, []object{variable("VITE_A", value, "all")}).Want(t, http.StatusOK)
	ada.SetVariables(project, []object{variable("X", value, "all")}).Want(t, http.StatusBadRequest)
	if r := viewer.Get(variablesURL(project)).Want(t, http.StatusOK); !strings.Contains(r.Raw, value) {
		t.Errorf("a viewer got %s, want the variables", r.Raw)
	}
	outsider.Get(variablesURL(project)).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	for _, u := range []*user{outsider, viewer, ada} {
		at := projecttest.URL(project)
		for _, path := range []string{"/api/projects", at, at + "/files", at + "/events", at + "/comments"} {
			if r := u.Get(path); strings.Contains(r.Raw, value) || strings.Contains(r.Raw, "VITE_A") {
				t.Errorf("%s: the response to %s has the variable: %s", path, u.Name, r.Raw)
			}
		}
	}
	if strings.Contains(f.Log.String(), value) {
		t.Error("the log has the value")
	}
}

func variable(name, value, target string) object {
	return object{"name": name, "value": value, "target": target}
}

func variablesURL(projectID string) string { return projecttest.URL(projectID) + "/variables" }
