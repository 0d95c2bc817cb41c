package db_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
)

// fakeDynamoDB is a server that always sends the same response, and records the bodies of the requests.
type fakeDynamoDB struct {
	status   int
	body     string
	mu       sync.Mutex
	requests []string
}

func (f *fakeDynamoDB) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.requests = append(f.requests, string(body))
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, f.body)
}

func newClient(endpoint string) *db.Client { return db.New(awsConfig(endpoint), newFakeClock().now) }

// exception returns the body of an error response. members contains further members of the JSON object, each after a
// comma.
func exception(name, members string) string {
	return fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"from AWS"%s}`, name, members)
}

// cancellation returns the body of the error response for a canceled transaction, with the code of each write.
func cancellation(codes ...string) string {
	var reasons []map[string]string
	for _, code := range codes {
		reasons = append(reasons, map[string]string{"Code": code, "Message": "why"})
	}
	data, err := json.Marshal(reasons)
	if err != nil {
		panic(err)
	}
	return exception("TransactionCanceledException", `,"CancellationReasons":`+string(data))
}

// class returns the name of an error's class, "internal" if it has none.
func class(err error) string {
	var found []string
	for name, c := range map[string]error{
		"not found":   db.ErrNotFound,
		"condition":   db.ErrConditionFailed,
		"conflict":    db.ErrConflict,
		"unavailable": db.ErrUnavailable,
	} {
		if errors.Is(err, c) {
			found = append(found, name)
		}
	}
	if found == nil {
		return "internal"
	}
	return strings.Join(found, "+")
}

func TestErrorClasses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status   int
		body     string
		want     string // the class of the error
		requests int    // including the retries of the SDK and of Retry
	}{
		"throughput exceeded":    {400, exception("ProvisionedThroughputExceededException", ""), "unavailable", 4},
		"throttled":              {400, exception("ThrottlingException", ""), "unavailable", 4},
		"request limit exceeded": {400, exception("RequestLimitExceeded", ""), "unavailable", 4},
		"server error":           {500, exception("InternalServerError", ""), "unavailable", 4},
		"HTML with status 503":   {503, "<html>", "unavailable", 4},
		"incomplete response":    {200, `{"ItemCollectionMetrics":`, "unavailable", 4},
		"HTML with status 200":   {200, "<html>", "unavailable", 4},
		"missing table":          {400, exception("ResourceNotFoundException", ""), "internal", 1},
		"invalid request":        {400, exception("ValidationException", ""), "internal", 1},
		"token reused":           {400, exception("IdempotentParameterMismatchException", ""), "internal", 1},
		"access denied":          {400, exception("AccessDeniedException", ""), "internal", 1},
		"condition":              {400, cancellation("None", "ConditionalCheckFailed"), "condition", 1},
		"condition and conflict": {400, cancellation("TransactionConflict", "ConditionalCheckFailed"), "condition", 1},
		"conflict":               {400, cancellation("TransactionConflict", "None"), "conflict", 20},
		"conflict and throttle":  {400, cancellation("TransactionConflict", "ThrottlingError"), "unavailable", 1},
		"throttle and conflict":  {400, cancellation("ThrottlingError", "TransactionConflict"), "unavailable", 1},
		"throughput in reasons":  {400, cancellation("ProvisionedThroughputExceeded"), "unavailable", 1},
		"validation":             {400, cancellation("ValidationError", "None"), "internal", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := &fakeDynamoDB{status: tc.status, body: tc.body}
			server := httptest.NewServer(fake)
			t.Cleanup(server.Close)
			client := newClient(server.URL)
			table := client.Table("t")
			err := client.Tx(table.Put(db.EmailKey("a@b.c"), nil), table.Put(db.EmailKey("b@b.c"), nil)).Commit(t.Context())
			if got := class(err); got != tc.want || err == nil {
				t.Errorf("got error %v of class %s, want class %s", err, got, tc.want)
			}
			if len(fake.requests) != tc.requests {
				t.Errorf("got %d requests, want %d", len(fake.requests), tc.requests)
			}
			if tokens := requestTokens(t, fake.requests); len(tokens) != 1 {
				t.Errorf("got %d different request tokens for one transaction, want 1", len(tokens))
			}
		})
	}
}

// requestTokens returns the set of the request tokens in the bodies of requests.
func requestTokens(t *testing.T, bodies []string) map[string]bool {
	t.Helper()
	tokens := map[string]bool{}
	for _, body := range bodies {
		var in struct{ ClientRequestToken string }
		err := json.Unmarshal([]byte(body), &in)
		if token := in.ClientRequestToken; err != nil || token == "" || len(token) > 36 {
			t.Fatalf("got request %s, %v, want one with a token of 1 to 36 characters", body, err)
		}
		tokens[in.ClientRequestToken] = true
	}
	return tokens
}

func TestErrorsOfSingleCalls(t *testing.T) {
	t.Parallel()
	unreachable := newClient("http://127.0.0.1:1")
	if _, err := unreachable.Table("t").Get(t.Context(), db.EmailKey("a@b.c")); class(err) != "unavailable" {
		t.Errorf("connection refused: got error %v, want ErrUnavailable", err)
	}
	fake := &fakeDynamoDB{status: 400, body: exception("TransactionConflictException", "")}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	client := newClient(server.URL)
	if _, err := client.Table("t").Get(canceled, db.EmailKey("a@b.c")); class(err) != "unavailable" {
		t.Errorf("context canceled: got error %v, want ErrUnavailable", err)
	}
	_, err := client.Do(t.Context(), client.Table("t").Delete(db.EmailKey("a@b.c")))
	if class(err) != "conflict" || len(fake.requests) != 20 {
		t.Errorf("a conflict: got error %v after %d requests, want ErrConflict after 20", err, len(fake.requests))
	}
}

// lossyProxy is a proxy in front of DynamoDB. It forwards all requests, but drops the connection instead of sending
// some of the responses.
type lossyProxy struct {
	proxy  *httputil.ReverseProxy
	losses atomic.Int32 // the number of responses to drop, starting with the next one
}

func (p *lossyProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.losses.Add(-1) >= 0 {
		p.proxy.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	p.proxy.ServeHTTP(w, r)
}

func TestLostResponsesOfWritesAreRecovered(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.StartServer(t)
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &lossyProxy{proxy: httputil.NewSingleHostReverseProxy(target)}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	name := "db-test-" + rand.Text()
	dynamotest.CreateTable(t, dynamotest.Client(endpoint), name, "pk", "sk")
	client := newClient(server.URL)
	table := client.Table(name)
	increment := expression.Add(expression.Name("n"), expression.Value(1))
	isFirst := expression.Name("v").Equal(expression.Value("1"))
	for _, tc := range []struct {
		name  string
		write func() error
	}{
		{"create", func() error { return do(t, client, table.Create(db.EmailKey("a@b.c"), item("1"))) }},
		{"update with Recognize", func() error {
			w := table.Update(db.EmailKey("a@b.c"), setV("2")).If(isFirst)
			return do(t, client, w.Recognize(func(stored db.Item) bool { return value(stored) == "2" }))
		}},
		{"transaction", func() error {
			return client.Tx(
				table.Create(db.EmailKey("b@b.c"), item("1")),
				table.Update(db.EmailKey("n@b.c"), increment)).Commit(t.Context())
		}},
	} {
		proxy.losses.Store(1)
		if err := tc.write(); err != nil {
			t.Errorf("%s: got error %v after a lost response, want none", tc.name, err)
		}
	}
	// A different stored item still makes the condition fail.
	if err := do(t, client, table.Create(db.EmailKey("a@b.c"), item("1"))); class(err) != "condition" {
		t.Errorf("got error %v for an item with the same key, want ErrConditionFailed", err)
	}
	counter, err := table.Get(t.Context(), db.EmailKey("n@b.c"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := db.Decode[struct{ N int }](counter)
	if err != nil || n.N != 1 {
		t.Errorf("got counter %d, %v after a repeated transaction, want 1", n.N, err)
	}
}

func do(t *testing.T, client *db.Client, w db.Write) error {
	t.Helper()
	_, err := client.Do(t.Context(), w)
	return err
}
