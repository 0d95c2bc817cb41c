package httpapi_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/edgetest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// guardedSessions is an Authenticator with a guard that reads an item of a table. If active is false, the session has
// ended. Otherwise, the session is renewed.
type guardedSessions struct {
	client *db.Client
	table  db.Table
	active bool
}

// Authenticate implements httpapi.Authenticator.
func (s guardedSessions) Authenticate(ctx context.Context, _ string) (context.Context, httpapi.Caller, error) {
	caller := httpapi.NewCaller("usr_ada", "ses_1")
	check := func(map[db.Ref]db.Item) error {
		if !s.active {
			return httpapi.ErrNoSession
		}
		caller.Complete(httpapi.Account{}, &httpapi.Renewal{Token: "fresh", Expires: edgetest.Noon.Add(time.Hour)})
		return nil
	}
	return s.client.WithGuard(ctx, check, s.table.Ref(db.UserKey("usr_ada"))), caller, nil
}

// If the session has ended, the response contains nothing of the handler, and the log does not name the user, even if
// the handler has not read from the database. Otherwise, the response has the cookie of the renewal once.
func TestSessionThatIsReadAfterTheHandlerStarts(t *testing.T) {
	t.Parallel()
	sdk := dynamotest.Client(dynamotest.StartServer(t))
	dynamotest.CreateTable(t, sdk, "accounts", "pk", "sk")
	client := db.Wrap(sdk, time.Now)
	for name, tc := range map[string]struct {
		body   string
		handle func(context.Context, *httpapi.EventStream) error
		status int // if the session is active
	}{
		"output": {`{}`, func(_ context.Context, s *httpapi.EventStream) error {
			_, err := io.WriteString(s, "secret")
			return err
		}, 200},
		"stream": {`{}`, func(_ context.Context, s *httpapi.EventStream) error {
			_, err := io.WriteString(s, "secret")
			return errors.Join(err, s.FlushError(), s.FlushError())
		}, 200},
		"error": {`{}`, func(context.Context, *httpapi.EventStream) error {
			return fault.New(fault.CodeConflict, "secret")
		}, 409},
		"read": {`{}`, func(ctx context.Context, _ *httpapi.EventStream) error {
			return db.Admit(ctx)
		}, 200},
		"panic":           {`{}`, func(context.Context, *httpapi.EventStream) error { panic("secret") }, 500},
		"validation":      {`[]`, nil, 400},
		"request too big": {`{"fail":"` + strings.Repeat("x", 5<<20) + `"}`, nil, 413},
	} {
		for _, active := range []bool{false, true} {
			var log edgetest.Log
			router := httpapi.NewRouter(httpapi.Config{
				Edge: edgetest.EdgeConfig, Logger: slog.New(slog.NewJSONHandler(&log, nil)),
				Clock: edgetest.Clock, Auth: guardedSessions{client, client.Table("accounts"), active},
			}, func(r *httpapi.Routes) {
				op := httpapi.Operation{ID: "stream", Method: http.MethodPost, Path: "/api/stream", Tag: httpapi.Tag{}}
				httpapi.PrivateStream(r, op,
					func(ctx context.Context, _ httpapi.Caller, _ *struct{ Body struct{} }, s *httpapi.EventStream) error {
						return tc.handle(ctx, s)
					})
			})
			res := postStream(t, router, tc.body)
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			status, cookies, user := http.StatusUnauthorized, 0, any(nil)
			if name == "panic" {
				status = tc.status
			}
			if active {
				status, cookies, user = tc.status, 1, "usr_ada"
			}
			if res.StatusCode != status || len(res.Header["Set-Cookie"]) != cookies {
				t.Errorf("%s, active session %t: got %d with %d cookies, want %d with %d",
					name, active, res.StatusCode, len(res.Header["Set-Cookie"]), status, cookies)
			}
			if !active && strings.Contains(string(body), "secret") {
				t.Errorf("%s: got %s, want nothing of the handler", name, body)
			}
			for _, line := range log.Lines(t) {
				if line["userId"] != user {
					t.Errorf("%s, active session %t: logged the user %v, want %v", name, active, line["userId"], user)
				}
			}
		}
	}
}

// countedInput counts how often the edge validates it.
type countedInput struct{ Body struct{} }

var countedInputs atomic.Int64

func (*countedInput) Validate(*httpapi.Validation) { countedInputs.Add(1) }

// The body of a request is decoded before the session is read, unless the body is large.
func TestLargeBodiesAreReadAfterTheSession(t *testing.T) {
	t.Parallel()
	sdk := dynamotest.Client(dynamotest.StartServer(t))
	dynamotest.CreateTable(t, sdk, "accounts", "pk", "sk")
	client := db.Wrap(sdk, time.Now)
	router := httpapi.NewRouter(httpapi.Config{
		Edge: edgetest.EdgeConfig, Logger: edgetest.DiscardLog, Clock: edgetest.Clock,
		Auth: guardedSessions{client, client.Table("accounts"), false},
	}, func(r *httpapi.Routes) {
		httpapi.Private(r, httpapi.Operation{ID: "count", Method: http.MethodPost, Path: "/api/count"},
			func(context.Context, httpapi.Caller, *countedInput) (*edgetest.EchoOutput, error) {
				return &edgetest.EchoOutput{}, nil
			})
	})
	for size, want := range map[int]int64{2 << 20: 1, 2<<20 + 1: 0} {
		countedInputs.Store(0)
		request := edgetest.Request{
			Method: http.MethodPost, Target: "/api/count", Body: "{}" + strings.Repeat(" ", size-2),
			Header: map[string]string{"Content-Type": "application/json", "Cookie": "__Host-session=ended"},
		}
		edgetest.WantError(t, request.Send(t, router), http.StatusUnauthorized, fault.CodeInvalidToken)
		if got := countedInputs.Load(); got != want {
			t.Errorf("a body of %d bytes was decoded %d times, want %d", size, got, want)
		}
	}
}
