package workspace_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/openapi/contract"
	"devplatform/shared/api"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

const testRing = `{"current":"k1","k1":"the key with which the cursors of tests are signed 0123"}`

// testClock moves by a second whenever it is asked, so that no two things are of one time.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// callLog reads the number of DynamoDB calls off the request log.
type callLog struct {
	slog.Handler
	mu    sync.Mutex
	calls map[string]int64
}

func newCallLog() *callLog {
	return &callLog{Handler: slog.DiscardHandler, calls: map[string]int64{}}
}

func (l *callLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *callLog) Handle(_ context.Context, r slog.Record) error {
	var requestID string
	var calls int64
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "requestId":
			requestID = a.Value.String()
		case "dynamodbCalls":
			calls = a.Value.Int64()
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[requestID] = calls
	return nil
}

func (l *callLog) of(requestID string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[requestID]
}

// crowd is everybody there is: an authenticator whose tokens are usernames, and the People of the slice.
type crowd struct {
	mu sync.Mutex
	by map[string]api.Caller
}

func (c *crowd) Authenticate(_ context.Context, token string) (api.Caller, *api.Renewal, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	caller, ok := c.by[token]
	if !ok {
		return caller, nil, api.NewError(api.CodeInvalidToken, "The session is missing or has ended. Please log in.")
	}
	return caller, nil, nil
}

func (c *crowd) FindByUsername(_ context.Context, username string) (string, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	caller, ok := c.by[strings.ToLower(username)]
	if !ok {
		return "", "", api.NewError(api.CodeUserNotFound, "There is no user of that name.")
	}
	return caller.UserID, caller.Username, nil
}

// world is the workspaces slice behind a real HTTP server, on a DynamoDB of its own.
type world struct {
	t              *testing.T
	clock          *testClock
	calls          *callLog
	crowd          *crowd
	wire           *wire
	sdk            *dynamodb.Client // past every layer of ours
	projects, told string           // names of the tables
	client         *db.Client
	ids            *id.Generator
	keys           *config.Keys
	service        *workspace.Service
	server         *httptest.Server
	unaudited      bool // what a test has stored itself is not of one piece
}

// sdkAttempts is how often the world's SDK sends a request before it gives up.
const sdkAttempts = 3

func newWorld(t *testing.T, change ...func(*workspace.Deps)) *world {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	w := &world{
		t: t, clock: &testClock{now: noon}, calls: newCallLog(), crowd: &crowd{by: map[string]api.Caller{}}, sdk: dynamotest.Client(endpoint),
		projects: "projects-" + rand.Text(), told: "events-" + rand.Text(),
	}
	for _, name := range []string{w.projects, w.told} {
		dynamotest.CreateTable(t, w.sdk, name, "pk", "sk")
	}
	wire, front := newWire(t, endpoint)
	w.wire = wire
	w.client = db.Wrap(dynamotest.Client(front, func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = sdkAttempts
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}), w.clock.Now)
	w.keys = config.NewKeys(func(context.Context) (string, error) { return testRing, nil }, w.clock.Now)
	w.ids = id.NewGenerator(w.clock.Now, rand.Reader)
	deps := workspace.Deps{
		DB: w.client, Projects: w.client.Table(w.projects), Outbox: event.Outbox{Events: w.client.Table(w.told), IDs: w.ids},
		Cursors: db.NewCursors(w.keys), People: w.crowd, IDs: w.ids, Clock: w.clock.Now, Logger: slog.New(w.calls),
	}
	for _, f := range change {
		f(&deps)
	}
	w.service = workspace.New(deps)
	w.server = httptest.NewServer(api.NewRouter(api.Config{
		Name: "test", Version: "1", Edge: config.Edge{CookiePlainHTTP: true}, Logger: deps.Logger, Auth: w.crowd, Clock: w.clock.Now,
	}, w.service.Register))
	t.Cleanup(func() {
		if !w.unaudited {
			w.audit()
		}
	})
	t.Cleanup(w.server.Close)
	return w
}

func quota(n int) func(*workspace.Deps) { return func(d *workspace.Deps) { d.MaxMemberships = n } }

// person is somebody who has signed up, with a personal workspace.
type person struct {
	w            *world
	id, username string
	token        string // of the session
	home         string // the personal workspace
}

func (w *world) person(username string) *person {
	w.t.Helper()
	p := &person{w: w, id: w.ids.New(id.User), username: username, token: strings.ToLower(username), home: w.ids.New(id.Workspace)}
	writes, err := workspace.Personal(w.client.Table(w.projects), p.home, p.id, username, w.clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.client.Transact(w.t.Context(), writes...); err != nil {
		w.t.Fatal(err)
	}
	w.crowd.mu.Lock()
	defer w.crowd.mu.Unlock()
	w.crowd.by[strings.ToLower(username)] = api.Caller{UserID: p.id, Username: username}
	return p
}

// people are persons of those names.
func (w *world) people(usernames ...string) []*person {
	w.t.Helper()
	list := make([]*person, len(usernames))
	for i, name := range usernames {
		list[i] = w.person(name)
	}
	return list
}

// answer is a response, read.
type answer struct {
	status int
	body   map[string]any
	raw    string
	calls  int64
	// session is the token of a cookie that was set.
	session string
}

func (a answer) text(field string) string {
	s, _ := a.body[field].(string)
	return s
}

// list is a field that is a list of objects.
func (a answer) list(field string) []map[string]any {
	values, _ := a.body[field].([]any)
	list := make([]map[string]any, len(values))
	for i, v := range values {
		list[i], _ = v.(map[string]any)
	}
	return list
}

// column is one field of every element of a list.
func (a answer) column(list, field string) []string {
	var values []string
	for _, element := range a.list(list) {
		s, _ := element[field].(string)
		values = append(values, s)
	}
	return values
}

// want fails the test unless the answer has that status and, for an error, that code.
func (a answer) want(t *testing.T, status int, code ...api.Code) answer {
	t.Helper()
	if a.status != status || (len(code) > 0 && a.text("code") != string(code[0])) {
		t.Fatalf("answer %d %s, want %d %v", a.status, a.raw, status, code)
	}
	return a
}

func (p *person) do(method, path string, body any) answer {
	p.w.t.Helper()
	var reader io.Reader
	switch v := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(v)
	default:
		data, err := json.Marshal(v)
		if err != nil {
			p.w.t.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(p.w.t.Context(), method, p.w.server.URL+path, reader)
	if err != nil {
		p.w.t.Fatal(err)
	}
	r.Header.Set("Cookie", "session="+p.token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.w.t.Error(err) // not Fatal: races ask from goroutines of their own
		return answer{}
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		p.w.t.Error(err)
		return answer{}
	}
	a := answer{status: res.StatusCode, raw: string(raw), calls: p.w.calls.of(res.Header.Get("X-Request-Id"))}
	for _, cookie := range res.Cookies() {
		a.session = cookie.Value
	}
	if err := json.Unmarshal(raw, &a.body); err != nil {
		p.w.t.Errorf("%s %s: %q: %v", method, path, raw, err)
	}
	contract.Check(p.w.t, method, path, a.status, res.Header, raw)
	return a
}

func (p *person) create(name string) string {
	p.w.t.Helper()
	return p.do(http.MethodPost, "/api/workspaces", map[string]string{"name": name}).want(p.w.t, http.StatusCreated).text("id")
}

func (p *person) add(ws string, other *person, role workspace.Role) answer {
	p.w.t.Helper()
	return p.do(http.MethodPost, "/api/workspaces/"+ws+"/members", map[string]any{"username": other.username, "role": role})
}

func (p *person) setRole(ws string, other *person, role workspace.Role) answer {
	p.w.t.Helper()
	return p.do(http.MethodPut, "/api/workspaces/"+ws+"/members/"+other.id, map[string]any{"role": role})
}

func (p *person) remove(ws string, other *person) answer {
	p.w.t.Helper()
	return p.do(http.MethodDelete, "/api/workspaces/"+ws+"/members/"+other.id, nil)
}

func (p *person) members(ws string) answer {
	p.w.t.Helper()
	return p.do(http.MethodGet, "/api/workspaces/"+ws+"/members", nil)
}

func (p *person) workspaces() answer {
	p.w.t.Helper()
	return p.do(http.MethodGet, "/api/workspaces", nil)
}

// team is a workspace of the first person, in which the others have the roles.
func (p *person) team(others map[*person]workspace.Role) string {
	p.w.t.Helper()
	ws := p.create("Team")
	for other, role := range others {
		p.add(ws, other, role).want(p.w.t, http.StatusCreated)
	}
	return ws
}

// scan reads a whole table, past every layer of ours.
func (w *world) scan(table string) []db.Item {
	w.t.Helper()
	var items []db.Item
	pages := dynamodb.NewScanPaginator(w.sdk, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.WithoutCancel(w.t.Context())) // the audit comes after the test
		if err != nil {
			w.t.Fatal(err)
		}
		items = append(items, page.Items...)
	}
	return items
}
