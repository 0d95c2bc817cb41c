package project

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/openapi/contract"
	"devplatform/shared/api"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

// browser is a user's client.
type browser struct {
	w        *world
	name     string // the token, too
	userID   string
	personal string // the id of the personal workspace
}

// user makes a user with a personal workspace. A moment passes, as it does between any two sign-ups.
func (w *world) user(name string) *browser {
	w.t.Helper()
	w.clock.Advance(time.Millisecond)
	b := &browser{w: w, name: name, userID: w.ids.New(id.User), personal: w.ids.New(id.Workspace)}
	writes, err := workspace.Personal(w.projects, b.personal, b.userID, name, w.clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	w.transact(writes...)
	w.people.mu.Lock()
	defer w.people.mu.Unlock()
	w.people.by[name] = api.Caller{UserID: b.userID, Username: name, Email: name + "@example.com", CreatedAt: w.clock.Now()}
	return b
}

// answer is a response, read.
type answer struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
	calls  int64 // to DynamoDB, the session's included
}

func (a answer) text(field string) string {
	s, _ := a.body[field].(string)
	return s
}

// list is a field that holds objects.
func (a answer) list(field string) []map[string]any {
	values, _ := a.body[field].([]any)
	var all []map[string]any
	for _, v := range values {
		object, _ := v.(map[string]any)
		all = append(all, object)
	}
	return all
}

// values are what one field of a list's objects says.
func (a answer) values(list, field string) []any {
	all := []any{}
	for _, object := range a.list(list) {
		all = append(all, object[field])
	}
	return all
}

// do makes a request. body is text as it is, or anything else as JSON; nil is none.
func (b *browser) do(method, path string, body any, change ...func(*http.Request)) answer {
	b.w.t.Helper()
	a, err := b.try(method, path, body, change...)
	if err != nil {
		b.w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// try is do for requests that run beside each other.
func (b *browser) try(method, path string, body any, change ...func(*http.Request)) (answer, error) {
	var reader io.Reader
	switch v := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(v)
	default:
		data, err := json.Marshal(v)
		if err != nil {
			return answer{}, err
		}
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(b.w.t.Context(), method, b.w.server.URL+path, reader)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Cookie", "__Host-session="+b.name)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, header: res.Header, raw: string(raw), calls: sessionCalls + b.w.log.of(res.Header.Get("X-Request-Id"))}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &a.body); err != nil {
			return a, err
		}
	}
	contract.Check(b.w.t, method, path, a.status, a.header, raw)
	if a.status >= http.StatusBadRequest && (len(a.body) != 2 || a.text("error") == "" || a.text("code") == "") {
		b.w.t.Errorf("%s %s: an error has exactly two fields: %s", method, path, raw)
	}
	return a, nil
}

func (b *browser) get(path string) answer {
	b.w.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

// want fails the test unless the answer has that status and, for an error, that code.
func (a answer) want(t *testing.T, status int, code ...api.Code) answer {
	t.Helper()
	if a.status != status || (len(code) > 0 && a.text("code") != string(code[0])) {
		t.Fatalf("answer %d %s, want %d %v", a.status, a.raw, status, code)
	}
	return a
}

// object is a JSON object to send.
type object map[string]any

// project makes a project through the API and answers with its id. A workspace of "" is the personal one.
func (b *browser) project(workspaceID, name string, visibility Visibility) string {
	b.w.t.Helper()
	fields := object{"name": name, "visibility": visibility}
	if workspaceID != "" {
		fields["workspaceId"] = workspaceID
	}
	return b.do(http.MethodPost, "/api/projects", fields).want(b.w.t, http.StatusCreated).text("id")
}
