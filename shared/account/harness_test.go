package account

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// The headers with which a test sets the source address and the scheme that the gateway reports.
const (
	headerIP    = "X-Test-Source"
	headerHTTPS = "X-Test-Https"
)

const testRing = `{"current":"k2","k1":"an old key that is still in the ring 0123456789","k2":"the key with which new tokens are signed 0123"}`

var testEdge = config.Edge{CookiePlainHTTP: true, AllowedOrigins: []config.Origin{"https://app.example.com"}}

// epoch is five minutes after the start of a window of every rule.
var epoch = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

type answer = slicetest.Response

// world is the service behind a real HTTP server, with its own DynamoDB.
type world struct {
	t       *testing.T
	clock   *slicetest.Clock
	log     *slicetest.Log
	service *Service
	sdk     *dynamodb.Client
	tables  config.Tables
	keys    *config.Keys
	hashes  atomic.Int64 // password hashes computed so far
	server  *httptest.Server
}

type option func(*Deps)

func withLimits(change func(*Limits)) option { return func(d *Deps) { change(&d.Limits) } }

func newWorld(t *testing.T, options ...option) *world {
	t.Helper()
	w := &world{t: t, clock: slicetest.NewClock(epoch, 0), log: slicetest.NewLog(), sdk: dynamotest.Start(t)}
	w.tables = config.Tables{Accounts: slicetest.Table(t, w.sdk, "accounts"), Projects: slicetest.Table(t, w.sdk, "projects")}
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
	countHashes(w.service.hasher, &w.hashes)
	w.server = httptest.NewServer(w.gateway(w.service.Router(testEdge)))
	t.Cleanup(w.server.Close)
	return w
}

// countHashes counts the hashes that h computes from now on.
func countHashes(h *Hasher, n *atomic.Int64) {
	next := h.argon2
	h.argon2 = func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte {
		n.Add(1)
		return next(password, salt, time, memory, threads, keyLen)
	}
}

// gateway adds the request info that API Gateway provides.
func (w *world) gateway(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		info := httpapi.RequestInfo{
			RequestID: rand.Text(), SourceIP: "203.0.113.1", UserAgent: r.UserAgent(),
			HTTPS: r.Header.Get(headerHTTPS) != "", BaseURL: "http://" + r.Host,
		}
		if ip := r.Header.Get(headerIP); ip != "" {
			info.SourceIP = ip
		}
		next.ServeHTTP(out, r.WithContext(httpapi.WithRequestInfo(r.Context(), info)))
	})
}

// item returns a stored item. It does not use package db.
func (w *world) item(table string, key db.Key) db.Item {
	w.t.Helper()
	return slicetest.Dump(w.t, w.sdk, table)[key]
}

// browser is a client of the world.
type browser struct {
	*slicetest.Client
	w *world
}

func (w *world) browser() *browser {
	w.t.Helper()
	return &browser{slicetest.NewClient(w.t, w.server.URL, w.log), w}
}

// from sets the source address of the browser's requests.
func (b *browser) from(ip string) *browser {
	b.Header.Set(headerIP, ip)
	return b
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
	return b.Do(http.MethodPost, "/api/auth/signup", signupBody(name+"@example.com", name, goodPassword))
}

func (b *browser) login(name, password string) answer {
	b.w.t.Helper()
	return b.Do(http.MethodPost, "/api/auth/login", loginBody(name+"@example.com", password))
}

func (b *browser) me() answer {
	b.w.t.Helper()
	return b.Do(http.MethodGet, "/api/auth/me", nil)
}

// member is a browser that has signed up and logged in.
func (w *world) member(name string) *browser {
	w.t.Helper()
	b := w.browser()
	b.signup(name).Want(w.t, http.StatusCreated)
	b.login(name, goodPassword).Want(w.t, http.StatusOK)
	return b
}
