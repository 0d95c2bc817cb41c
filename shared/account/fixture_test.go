package account

import (
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
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/password"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

// The headers with which a test sets the source address and the scheme that the gateway reports.
const (
	headerIP    = "X-Test-Source"
	headerHTTPS = "X-Test-Https"
)

var testEdge = config.Edge{CookiePlainHTTP: true, AllowedOrigins: []config.Origin{"https://app.example.com"}}

// startTime is five minutes after the start of a window of every rate limit.
var startTime = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

// fixture is the service behind a real HTTP server, with its own DynamoDB.
type fixture struct {
	t       *testing.T
	clock   *slicetest.Clock
	log     *slicetest.Log
	deps    Deps
	service *Service
	sdk     *dynamodb.Client
	tables  config.Tables
	keys    *config.Keys
	hashes  atomic.Int64 // the number of password hashes that were computed
	server  *httptest.Server
}

type option func(*Deps)

func withLimits(change func(*attempt.Limits)) option { return func(d *Deps) { change(&d.Limits) } }

// withoutMail is the option of a stack that sends no mail.
func withoutMail(d *Deps) { d.Mail = mail.Settings{} }

// newFixture returns a fixture, and runs the test in parallel with others.
func newFixture(t *testing.T, options ...option) *fixture {
	t.Helper()
	t.Parallel()
	f := &fixture{t: t, clock: slicetest.NewClock(startTime, 0), log: slicetest.NewLog(), sdk: dynamotest.Start(t)}
	f.tables = config.Tables{
		Accounts: slicetest.Table(t, f.sdk, "accounts"),
		Projects: slicetest.Table(t, f.sdk, "projects"),
		Mail:     slicetest.Table(t, f.sdk, "mail"),
	}
	f.keys = slicetest.Keys(f.clock.Now)
	f.deps = Deps{
		DB:     db.Wrap(f.sdk, f.clock.Now),
		Tables: f.tables,
		Keys:   f.keys,
		IDs:    id.NewGenerator(f.clock.Now, rand.Reader),
		Clock:  f.clock.Now,
		Logger: slog.New(f.log),
		Limits: attempt.Limits{
			LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 100, OAuthIP: 60, CodeIP: 20,
			Mail: attempt.MailLimits{Minute: 1, Hour: 5, Day: 10, Address: 30, IP: 30},
		},
		Mail:   mail.Settings{From: "no-reply@example.com"},
		Hasher: f.newHasher(1),
		Edge:   testEdge,
	}
	for _, apply := range options {
		apply(&f.deps)
	}
	f.service = New(f.deps)
	f.server = httptest.NewServer(f.gateway(f.service.Router()))
	t.Cleanup(f.server.Close)
	return f
}

// newHasher returns a Hasher with cheap parameters, which counts its hashes.
func (f *fixture) newHasher(passes uint32) *password.Hasher {
	h := password.NewHasher(password.HashParams{MemoryKiB: 8, Time: passes, Threads: 1, SaltBytes: 16, KeyBytes: 32}, 4)
	next := h.Argon2
	h.Argon2 = func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte {
		f.hashes.Add(1)
		return next(password, salt, time, memory, threads, keyLen)
	}
	return h
}

// restart replaces the service with a service that has changed dependencies.
func (f *fixture) restart(change option) {
	change(&f.deps)
	f.service = New(f.deps)
	f.server.Config.Handler = f.gateway(f.service.Router())
}

// gateway adds the request information that API Gateway provides in production.
func (f *fixture) gateway(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := httpapi.RequestInfo{
			RequestID: rand.Text(), SourceIP: "203.0.113.1", UserAgent: r.UserAgent(),
			HTTPS: r.Header.Get(headerHTTPS) != "", BaseURL: "http://" + r.Host,
		}
		if ip := r.Header.Get(headerIP); ip != "" {
			info.SourceIP = ip
		}
		next.ServeHTTP(w, r.WithContext(httpapi.WithRequestInfo(r.Context(), info)))
	})
}

// item returns a stored item, or nil. It reads the table without package db.
func (f *fixture) item(table string, key db.Key) db.Item {
	f.t.Helper()
	return slicetest.Dump(f.t, f.sdk, table)[key]
}

// apiClient is an HTTP client with its own cookies.
type apiClient struct {
	*slicetest.Client
	f     *fixture
	email string // of the user of newUser
}

// newClient returns a client without a session.
func (f *fixture) newClient() *apiClient {
	f.t.Helper()
	return &apiClient{Client: slicetest.NewClient(f.t, f.server.URL, f.log), f: f}
}

// newUser signs up a user and returns a client with a session of that user.
func (f *fixture) newUser(name string) *apiClient {
	f.t.Helper()
	client := f.newClient()
	client.signup(name).Want(f.t, http.StatusCreated)
	client.login(name, goodPassword).Want(f.t, http.StatusOK)
	return client
}

// from sets the source address of the client's requests.
func (c *apiClient) from(ip string) *apiClient {
	c.Header.Set(headerIP, ip)
	return c
}

func signupBody(email, username, password string) map[string]string {
	return map[string]string{"email": email, "username": username, "password": password}
}

func loginBody(email, password string) map[string]string {
	return map[string]string{"email": email, "password": password}
}

const (
	goodPassword = "correct horse battery"
	newPassword  = "a wholly new password"
)

func (c *apiClient) signup(name string) slicetest.Response {
	c.f.t.Helper()
	return c.signupWith(name+"@example.com", name, goodPassword)
}

func (c *apiClient) signupWith(email, username, password string) slicetest.Response {
	c.f.t.Helper()
	return c.Do(http.MethodPost, "/api/auth/signup", signupBody(email, username, password))
}

func (c *apiClient) login(name, password string) slicetest.Response {
	c.f.t.Helper()
	return c.loginWith(name+"@example.com", password)
}

func (c *apiClient) loginWith(email, password string) slicetest.Response {
	c.f.t.Helper()
	return c.Do(http.MethodPost, "/api/auth/login", loginBody(email, password))
}

func (c *apiClient) logout() slicetest.Response {
	c.f.t.Helper()
	return c.Do(http.MethodPost, "/api/auth/logout", nil)
}

func (c *apiClient) changePassword(current, next string) slicetest.Response {
	c.f.t.Helper()
	body := map[string]string{"currentPassword": current, "newPassword": next}
	return c.Do(http.MethodPut, "/api/auth/password", body)
}

func (c *apiClient) me() slicetest.Response {
	c.f.t.Helper()
	return c.Get("/api/auth/me")
}

// hasCookies reports whether a response sets cookies.
func hasCookies(response slicetest.Response) bool {
	return len(response.Header.Values("Set-Cookie")) > 0
}
