package project

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/api"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/workspace"
)

const testRing = `{"current":"k1","k1":"the key with which the cursors of tests are signed 0123"}`

var epoch = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

// sessionCalls is what reading the session costs in front of every request: one call, which the harness's fake does not make.
const sessionCalls = 1

type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// callLog reads the number of DynamoDB calls off the request log.
type callLog struct {
	slog.Handler
	mu    sync.Mutex
	calls map[string]int64
	text  *bytes.Buffer
}

func newCallLog() *callLog {
	l := &callLog{calls: map[string]int64{}, text: &bytes.Buffer{}}
	l.Handler = slog.NewTextHandler(l, nil)
	return l
}

func (l *callLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *callLog) Handle(ctx context.Context, r slog.Record) error {
	var requestID string
	calls := int64(-1)
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "requestId":
			requestID = a.Value.String()
		case "dynamodbCalls":
			calls = a.Value.Int64()
		}
		return true
	})
	if calls >= 0 {
		l.mu.Lock()
		l.calls[requestID] = calls
		l.mu.Unlock()
	}
	return l.Handler.Handle(ctx, r)
}

func (l *callLog) of(requestID string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[requestID]
}

func (l *callLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// people are the users that the fake authenticator knows, by their names, which are their tokens, too.
type people struct {
	mu sync.Mutex
	by map[string]api.Caller
}

func (p *people) Authenticate(_ context.Context, token string) (api.Caller, *api.Renewal, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	caller, ok := p.by[token]
	if !ok {
		return caller, nil, api.NewError(api.CodeInvalidToken, "The session is missing or has ended. Please log in.")
	}
	return caller, nil, nil
}

// world is the projects slice behind a real HTTP server, on a DynamoDB of its own.
type world struct {
	t        *testing.T
	clock    *testClock
	log      *callLog
	endpoint string
	sdk      *dynamodb.Client // past every layer of ours
	client   *db.Client
	projects db.Table
	contents db.Table
	events   db.Table
	names    struct{ projects, contents, events string }
	ids      *id.Generator
	quotas   Quotas
	people   *people
	service  *Service
	server   *httptest.Server
}

type option func(*world)

func withQuotas(q Quotas) option { return func(w *world) { w.quotas = q } }

func newWorld(t *testing.T, options ...option) *world {
	t.Helper()
	w := &world{
		t: t, clock: &testClock{now: epoch}, log: newCallLog(), endpoint: dynamotest.StartServer(t),
		quotas: DefaultQuotas(), people: &people{by: map[string]api.Caller{}},
	}
	w.sdk = dynamotest.Client(w.endpoint)
	w.ids = id.NewGenerator(w.clock.Now, rand.Reader)
	suffix := strings.ToLower(rand.Text())
	w.names.projects, w.names.contents, w.names.events = "projects-"+suffix, "contents-"+suffix, "events-"+suffix
	for _, name := range []string{w.names.projects, w.names.contents, w.names.events} {
		dynamotest.CreateTable(t, w.sdk, name, "pk", "sk")
	}
	for _, o := range options {
		o(w)
	}
	w.server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(w.server.Close)
	w.serve(w.sdk)
	return w
}

// serve has a new service, with nothing in memory, take over, which reaches DynamoDB by an SDK client.
func (w *world) serve(sdk *dynamodb.Client) {
	w.client = db.Wrap(sdk, w.clock.Now)
	w.projects, w.contents, w.events =
		w.client.Table(w.names.projects), w.client.Table(w.names.contents), w.client.Table(w.names.events)
	keys := config.NewKeys(func(context.Context) (string, error) { return testRing, nil }, w.clock.Now)
	logger := slog.New(w.log)
	w.service = New(Deps{
		DB: w.client, Projects: w.projects, Contents: w.contents, Outbox: event.Outbox{Events: w.events, IDs: w.ids},
		Cursors: db.NewCursors(keys), IDs: w.ids, Clock: w.clock.Now, Logger: logger, Quotas: w.quotas,
	})
	router := api.NewRouter(api.Config{Name: "test", Version: "1", Logger: logger, Auth: w.people, Clock: w.clock.Now}, w.service.Register)
	w.server.Config.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		info := api.RequestInfo{RequestID: rand.Text(), SourceIP: "203.0.113.1", HTTPS: true, BaseURL: "https://" + r.Host}
		router.ServeHTTP(out, r.WithContext(api.WithRequestInfo(r.Context(), info)))
	})
}

// interpose puts a handler between the service and DynamoDB. It is given the real DynamoDB as next.
func (w *world) interpose(wrap func(next http.Handler) http.Handler) {
	w.t.Helper()
	target, err := url.Parse(w.endpoint)
	if err != nil {
		w.t.Fatal(err)
	}
	proxy := httptest.NewServer(wrap(httputil.NewSingleHostReverseProxy(target)))
	w.t.Cleanup(proxy.Close)
	w.serve(dynamotest.Client(proxy.URL, func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}))
}

// operation is what a request to DynamoDB asks for, such as TransactWriteItems.
func operation(r *http.Request) string {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return name
}

// dump is everything in a table, by key.
func (w *world) dump(table string) map[db.Key]map[string]types.AttributeValue {
	w.t.Helper()
	all := map[db.Key]map[string]types.AttributeValue{}
	pages := dynamodb.NewScanPaginator(w.sdk, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		for _, item := range page.Items {
			pk, _ := item["pk"].(*types.AttributeValueMemberS)
			sk, _ := item["sk"].(*types.AttributeValueMemberS)
			all[db.Key{PK: pk.Value, SK: sk.Value}] = item
		}
	}
	return all
}

// storedEvents are the events as they are stored, in the order in which they were made.
func (w *world) storedEvents() []event.Record {
	w.t.Helper()
	var records []event.Record
	for _, item := range w.dump(w.names.events) {
		record, err := decode[event.Record](item)
		if err != nil {
			w.t.Fatal(err)
		}
		records = append(records, record)
	}
	slices.SortFunc(records, func(a, b event.Record) int { return strings.Compare(a.ID, b.ID) })
	return records
}

func (w *world) transact(writes ...db.Write) {
	w.t.Helper()
	if err := w.client.Transact(w.t.Context(), writes...); err != nil {
		w.t.Fatal(err)
	}
}

// workspace makes a workspace that belongs to b.
func (b *browser) workspace(name string) (workspaceID string) {
	w := b.w
	w.t.Helper()
	workspaceID = w.ids.New(id.Workspace)
	record, err := db.Encode(workspace.Workspace{ID: workspaceID, Name: name, Owners: 1, CreatedAt: clock.Stamp(w.clock.Now())})
	if err != nil {
		w.t.Fatal(err)
	}
	w.transact(w.projects.Create(db.WorkspaceKey(workspaceID), record))
	w.join(workspaceID, b, workspace.Owner)
	return workspaceID
}

// join gives a user a role in a workspace, instead of the one that they may have.
func (w *world) join(workspaceID string, b *browser, role workspace.Role) {
	w.t.Helper()
	item, err := w.projects.Get(w.t.Context(), db.WorkspaceKey(workspaceID))
	if err != nil {
		w.t.Fatal(err)
	}
	place, err := decode[workspace.Workspace](item)
	if err != nil {
		w.t.Fatal(err)
	}
	w.clock.Advance(time.Millisecond)
	record, err := db.Encode(workspace.Membership{
		WorkspaceID: workspaceID, UserID: b.userID, Username: b.name, Role: role, AddedAt: clock.Stamp(w.clock.Now()),
		Name: place.Name, CreatedAt: place.CreatedAt,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.transact(w.projects.Put(db.MemberKey(workspaceID, b.userID), record), w.projects.Put(db.MembershipKey(b.userID, workspaceID), record))
}

// leave takes a user out of a workspace.
func (w *world) leave(workspaceID string, b *browser) {
	w.t.Helper()
	w.transact(w.projects.Delete(db.MemberKey(workspaceID, b.userID)), w.projects.Delete(db.MembershipKey(b.userID, workspaceID)))
}

// stamp is now, as the API writes it.
func (w *world) stamp() string { return clock.Stamp(w.clock.Now()).String() }

// attributeTypes are DynamoDB's, for cmpopts.IgnoreUnexported.
var attributeTypes = []any{
	types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
	types.AttributeValueMemberM{}, types.AttributeValueMemberL{}, types.AttributeValueMemberNULL{},
}

// decoded is the payload of a stored event.
func decoded(t *testing.T, record event.Record) event.Payload {
	t.Helper()
	var payload event.Payload
	if err := json.Unmarshal([]byte(record.Payload), &payload); err != nil {
		t.Fatal(err)
	}
	return payload
}

// file puts a file's record into a project, without a content, past every layer of ours.
func (w *world) file(projectID, path string) {
	w.t.Helper()
	w.transact(w.fileWrite(projectID, path))
}

func (w *world) fileWrite(projectID, path string) db.Write {
	w.t.Helper()
	at := clock.Stamp(w.clock.Now())
	record, err := db.Encode(fileRecord{Encoding: UTF8, SHA256: make([]byte, 32), Version: "01K9ZQ3V7M8T5XW2ABCDEFGHJK", CreatedAt: at, UpdatedAt: at})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.projects.Put(db.FileKey(projectID, path), record)
}
