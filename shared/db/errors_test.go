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
	"devplatform/shared/config"
	"devplatform/shared/db"
)

// scripted is a DynamoDB that always sends the same response, and records the requests.
type scripted struct {
	status int
	body   string
	mu     sync.Mutex
	asked  []string
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, string(body))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(s.status)
	_, _ = io.WriteString(w, s.body)
}

func clientOf(endpoint string) *db.Client {
	h := &hands{}
	return db.New(config.AWS{Region: "us-east-1", AccessKeyID: "test", SecretAccessKey: "test", Endpoint: endpoint}, h.now)
}

func failing(name, more string) string {
	return fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"from AWS"%s}`, name, more)
}

func reasons(codes ...string) string {
	var list []map[string]string
	for _, code := range codes {
		list = append(list, map[string]string{"Code": code, "Message": "why"})
	}
	data, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return failing("TransactionCanceledException", `,"CancellationReasons":`+string(data))
}

// class returns the name of the error's class.
func class(err error) string {
	var found []string
	for name, c := range map[string]error{
		"not found": db.ErrNotFound, "condition": db.ErrConditionFailed, "conflict": db.ErrConflict, "unavailable": db.ErrUnavailable,
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
		status int
		body   string
		want   string
		asked  int // requests, with the retries of the SDK and of Retry
	}{
		"throughput":             {400, failing("ProvisionedThroughputExceededException", ""), "unavailable", 4},
		"throttling":             {400, failing("ThrottlingException", ""), "unavailable", 4},
		"request limit":          {400, failing("RequestLimitExceeded", ""), "unavailable", 4},
		"server error":           {500, failing("InternalServerError", ""), "unavailable", 4},
		"not AWS":                {503, "<html>", "unavailable", 4},
		"incomplete":             {200, `{"ItemCollectionMetrics":`, "unavailable", 4},
		"not DynamoDB's":         {200, "<html>", "unavailable", 4},
		"missing table":          {400, failing("ResourceNotFoundException", ""), "internal", 1},
		"invalid request":        {400, failing("ValidationException", ""), "internal", 1},
		"token reused":           {400, failing("IdempotentParameterMismatchException", ""), "internal", 1},
		"access denied":          {400, failing("AccessDeniedException", ""), "internal", 1},
		"condition":              {400, reasons("None", "ConditionalCheckFailed"), "condition", 1},
		"condition and conflict": {400, reasons("TransactionConflict", "ConditionalCheckFailed"), "condition", 1},
		"conflict":               {400, reasons("TransactionConflict", "None"), "conflict", 20},
		"conflict and throttle":  {400, reasons("TransactionConflict", "ThrottlingError"), "unavailable", 1},
		"throttle and conflict":  {400, reasons("ProvisionedThroughputExceeded", "TransactionConflict"), "unavailable", 1},
		"validation":             {400, reasons("ValidationError", "None"), "internal", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scripted{status: tc.status, body: tc.body}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			c := clientOf(server.URL)
			table := c.Table("t")
			err := c.Transact(t.Context(), table.Put(db.EmailKey("a@b.c"), nil), table.Put(db.EmailKey("b@b.c"), nil))
			if got := class(err); got != tc.want || err == nil {
				t.Errorf("%s: %v", got, err)
			}
			if len(s.asked) != tc.asked {
				t.Errorf("asked %d times, want %d", len(s.asked), tc.asked)
			}
			if tokens := requestTokens(t, s.asked); len(tokens) != 1 {
				t.Errorf("%d request tokens for one transaction", len(tokens))
			}
		})
	}
}

func requestTokens(t *testing.T, bodies []string) map[string]bool {
	t.Helper()
	tokens := map[string]bool{}
	for _, body := range bodies {
		var in struct{ ClientRequestToken string }
		if err := json.Unmarshal([]byte(body), &in); err != nil || in.ClientRequestToken == "" || len(in.ClientRequestToken) > 36 {
			t.Fatalf("%s: %v", body, err)
		}
		tokens[in.ClientRequestToken] = true
	}
	return tokens
}

func TestNoResponseIsUnavailable(t *testing.T) {
	t.Parallel()
	nowhere := clientOf("http://127.0.0.1:1")
	if _, err := nowhere.Table("t").Get(t.Context(), db.EmailKey("a@b.c")); class(err) != "unavailable" {
		t.Errorf("connection refused: %v", err)
	}
	server := httptest.NewServer(&scripted{status: 200, body: `{}`})
	t.Cleanup(server.Close)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := clientOf(server.URL).Table("t").Get(ended, db.EmailKey("a@b.c")); class(err) != "unavailable" {
		t.Errorf("context canceled: %v", err)
	}
}

func TestDoRetriesConflicts(t *testing.T) {
	t.Parallel()
	s := &scripted{status: 400, body: failing("TransactionConflictException", "")}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c := clientOf(server.URL)
	_, err := c.Do(t.Context(), c.Table("t").Delete(db.EmailKey("a@b.c")))
	if class(err) != "conflict" || len(s.asked) != 20 {
		t.Errorf("%v after %d times", err, len(s.asked))
	}
}

// forgetful is a proxy in front of DynamoDB. While lose is above zero, it forwards requests but drops the connection
// instead of sending the response.
type forgetful struct {
	proxy *httputil.ReverseProxy
	lose  atomic.Int32
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.lose.Add(-1) >= 0 {
		f.proxy.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	f.proxy.ServeHTTP(w, r)
}

func TestLostResponsesOfWritesAreRecovered(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.StartServer(t)
	to, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	f := &forgetful{proxy: httputil.NewSingleHostReverseProxy(to)}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	name := "db-test-" + rand.Text()
	dynamotest.CreateTable(t, dynamotest.Client(endpoint), name, "pk", "sk")
	c := clientOf(server.URL)
	table := c.Table(name)
	add := expression.Add(expression.Name("n"), expression.Value(1))
	next := expression.Name("v").Equal(expression.Value("1"))
	for _, tc := range []struct {
		name  string
		write func() error
	}{
		{"create", func() error { return do(t, c, table.Create(db.EmailKey("a@b.c"), item("1"))) }},
		{"update with Mine", func() error {
			w := table.Update(db.EmailKey("a@b.c"), setV("2")).If(next)
			return do(t, c, w.Mine(func(stored db.Item) bool { return value(stored) == "2" }))
		}},
		{"transaction", func() error {
			return c.Transact(t.Context(), table.Create(db.EmailKey("b@b.c"), item("1")), table.Update(db.EmailKey("n@b.c"), add))
		}},
	} {
		f.lose.Store(1)
		if err := tc.write(); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	// Another client's item still makes the condition fail.
	if err := do(t, c, table.Create(db.EmailKey("a@b.c"), item("1"))); class(err) != "condition" {
		t.Errorf("replaced another item: %v", err)
	}
	counter, err := table.Get(t.Context(), db.EmailKey("n@b.c"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := db.Decode[struct{ N int }](counter)
	if err != nil || n.N != 1 {
		t.Errorf("the transaction counted to %d, %v", n.N, err)
	}
}

func do(t *testing.T, c *db.Client, w db.Write) error {
	t.Helper()
	_, err := c.Do(t.Context(), w)
	return err
}
