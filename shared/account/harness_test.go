package account

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/openapi/contract"
	"devplatform/shared/api"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// The headers by which a test says where a request comes from; the world's handler makes a gateway's request info of them.
const (
	headerIP    = "X-Test-Source"
	headerHTTPS = "X-Test-Https"
)

const testRing = `{"current":"k2","k1":"an old key that is still in the ring 0123456789","k2":"the key with which new tokens are signed 0123"}`

var testEdge = config.Edge{CookiePlainHTTP: true, AllowedOrigins: []config.Origin{"https://app.example.com"}}

// epoch lies five minutes into a window of every rule.
var epoch = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

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
	mu    sync.Mutex
	calls map[string]int64
	text  *bytes.Buffer
	slog.Handler
}

func newCallLog() *callLog {
	text := &bytes.Buffer{}
	l := &callLog{calls: map[string]int64{}, text: text}
	l.Handler = slog.NewTextHandler(lockedWriter{&l.mu, text}, nil)
	return l
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
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

// world is the accounts slice behind a real HTTP server, on a DynamoDB of its own.
type world struct {
	t       *testing.T
	clock   *testClock
	log     *callLog
	service *Service
	sdk     *dynamodb.Client
	tables  config.Tables
	keys    *config.Keys
	server  *httptest.Server
}

type option func(*Deps)

func withLimits(change func(*Limits)) option { return func(d *Deps) { change(&d.Limits) } }

func newWorld(t *testing.T, options ...option) *world {
	t.Helper()
	w := &world{t: t, clock: &testClock{now: epoch}, log: newCallLog(), sdk: dynamotest.Start(t)}
	suffix := strings.ToLower(rand.Text())
	w.tables = config.Tables{Accounts: "accounts-" + suffix, Projects: "projects-" + suffix}
	for _, name := range []string{w.tables.Accounts, w.tables.Projects} {
		dynamotest.CreateTable(t, w.sdk, name, "pk", "sk")
	}
	w.keys = config.NewKeys(func(context.Context) (string, error) { return testRing, nil }, w.clock.Now)
	deps := Deps{
		DB: db.Wrap(w.sdk, w.clock.Now), Tables: w.tables, Keys: w.keys,
		IDs: id.NewGenerator(w.clock.Now, rand.Reader), Clock: w.clock.Now, Logger: slog.New(w.log),
		Limits: Limits{LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 100, OAuthIP: 60},
		Hasher: NewHasher(quickHash(), 4), PlainHTTPCookies: true,
	}
	for _, o := range options {
		o(&deps)
	}
	w.service = New(deps)
	w.server = httptest.NewServer(w.gateway(Router(testEdge, w.service)))
	t.Cleanup(w.server.Close)
	return w
}

// gateway does what API Gateway does: it alone says where a request comes from.
func (w *world) gateway(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		info := api.RequestInfo{
			RequestID: rand.Text(), SourceIP: "203.0.113.1", UserAgent: r.UserAgent(),
			HTTPS: r.Header.Get(headerHTTPS) != "", BaseURL: "http://" + r.Host,
		}
		if ip := r.Header.Get(headerIP); ip != "" {
			info.SourceIP = ip
		}
		next.ServeHTTP(out, r.WithContext(api.WithRequestInfo(r.Context(), info)))
	})
}

// item reads what is stored, past every layer of ours.
func (w *world) item(table string, key db.Key) map[string]types.AttributeValue {
	w.t.Helper()
	out, err := w.sdk.GetItem(w.t.Context(), &dynamodb.GetItemInput{
		TableName: &table, ConsistentRead: aws.Bool(true), Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: key.PK}, "sk": &types.AttributeValueMemberS{Value: key.SK},
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Item
}

// browser is a client with a cookie jar.
type browser struct {
	w      *world
	client *http.Client
	header http.Header
}

func (w *world) browser() *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &browser{w: w, header: http.Header{}, client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// from has the browser's requests come from an address.
func (b *browser) from(ip string) *browser {
	b.header.Set(headerIP, ip)
	return b
}

func (b *browser) cookie(name string) string {
	u, _ := url.Parse(b.w.server.URL)
	for _, c := range b.client.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (b *browser) setCookie(name, value string) {
	u, _ := url.Parse(b.w.server.URL)
	b.client.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// answer is a response, read.
type answer struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
	calls  int64
}

func (a answer) text(field string) string {
	s, _ := a.body[field].(string)
	return s
}

func (b *browser) do(method, path string, body any, change ...func(*http.Request)) answer {
	b.w.t.Helper()
	var reader io.Reader
	switch v := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(v)
	default:
		data, err := json.Marshal(v)
		if err != nil {
			b.w.t.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(b.w.t.Context(), method, b.w.server.URL+path, reader)
	if err != nil {
		b.w.t.Fatal(err)
	}
	for name, values := range b.header {
		r.Header[name] = values
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(r)
	}
	res, err := b.client.Do(r)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header, raw: string(raw), calls: b.w.log.of(res.Header.Get("X-Request-Id"))}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &a.body); err != nil {
			b.w.t.Fatalf("%s %s: %q: %v", method, path, raw, err)
		}
	}
	contract.Check(b.w.t, method, path, a.status, a.header, raw)
	if a.status >= http.StatusBadRequest && (len(a.body) != 2 || a.text("error") == "" || a.text("code") == "") {
		b.w.t.Errorf("%s %s: an error has exactly two fields: %s", method, path, raw)
	}
	return a
}

// want fails the test unless the answer has that status and, for an error, that code.
func (a answer) want(t *testing.T, status int, code ...api.Code) answer {
	t.Helper()
	if a.status != status || (len(code) > 0 && a.text("code") != string(code[0])) {
		t.Fatalf("answer %d %s, want %d %v", a.status, a.raw, status, code)
	}
	return a
}

func signupBody(email, username, password string) map[string]string {
	return map[string]string{"email": email, "username": username, "password": password}
}

func loginBody(email, password string) map[string]string {
	return map[string]string{"email": email, "password": password}
}

const goodPassword = "correct horse battery"

func (b *browser) signup(name string) answer {
	b.w.t.Helper()
	return b.do(http.MethodPost, "/api/auth/signup", signupBody(name+"@example.com", name, goodPassword))
}

func (b *browser) login(name, password string) answer {
	b.w.t.Helper()
	return b.do(http.MethodPost, "/api/auth/login", loginBody(name+"@example.com", password))
}

func (b *browser) me() answer {
	b.w.t.Helper()
	return b.do(http.MethodGet, "/api/auth/me", nil)
}

// member is a browser that has signed up and logged in.
func (w *world) member(name string) *browser {
	w.t.Helper()
	b := w.browser()
	b.signup(name).want(w.t, http.StatusCreated)
	b.login(name, goodPassword).want(w.t, http.StatusOK)
	return b
}
