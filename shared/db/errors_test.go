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

// scripted is a DynamoDB that always answers alike, and remembers what it was asked.
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

// class is the one class of an error, by name.
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

func TestWhatDynamoDBSaysHasOneClass(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		body   string
		want   string
		asked  int // how often, with the SDK's repetitions and ours
	}{
		"throughput":            {400, failing("ProvisionedThroughputExceededException", ""), "unavailable", 4},
		"throttling":            {400, failing("ThrottlingException", ""), "unavailable", 4},
		"request limit":         {400, failing("RequestLimitExceeded", ""), "unavailable", 4},
		"server error":          {500, failing("InternalServerError", ""), "unavailable", 4},
		"no AWS at all":         {503, "<html>", "unavailable", 4},
		"torn":                  {200, `{"ItemCollectionMetrics":`, "unavailable", 4},
		"not DynamoDB's":        {200, "<html>", "unavailable", 4},
		"missing table":         {400, failing("ResourceNotFoundException", ""), "internal", 1},
		"our mistake":           {400, failing("ValidationException", ""), "internal", 1},
		"another body":          {400, failing("IdempotentParameterMismatchException", ""), "internal", 1},
		"no rights":             {400, failing("AccessDeniedException", ""), "internal", 1},
		"condition":             {400, reasons("None", "ConditionalCheckFailed"), "condition", 1},
		"condition wins":        {400, reasons("TransactionConflict", "ConditionalCheckFailed"), "condition", 1},
		"conflict":              {400, reasons("TransactionConflict", "None"), "conflict", 7},
		"conflict and throttle": {400, reasons("TransactionConflict", "ThrottlingError"), "unavailable", 1},
		"throttle and conflict": {400, reasons("ProvisionedThroughputExceeded", "TransactionConflict"), "unavailable", 1},
		"a reason of ours":      {400, reasons("ValidationError", "None"), "internal", 1},
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
				t.Errorf("one write under %d request tokens", len(tokens))
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

func TestNoAnswerIsUnavailable(t *testing.T) {
	t.Parallel()
	nowhere := clientOf("http://127.0.0.1:1")
	if _, err := nowhere.Table("t").Get(t.Context(), db.EmailKey("a@b.c")); class(err) != "unavailable" {
		t.Errorf("nobody there: %v", err)
	}
	server := httptest.NewServer(&scripted{status: 200, body: `{}`})
	t.Cleanup(server.Close)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := clientOf(server.URL).Table("t").Get(ended, db.EmailKey("a@b.c")); class(err) != "unavailable" {
		t.Errorf("the caller has gone: %v", err)
	}
}

func TestASingleWriteRepeatsAConflict(t *testing.T) {
	t.Parallel()
	s := &scripted{status: 400, body: failing("TransactionConflictException", "")}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c := clientOf(server.URL)
	_, err := c.Do(t.Context(), c.Table("t").Delete(db.EmailKey("a@b.c")))
	if class(err) != "conflict" || len(s.asked) != 7 {
		t.Errorf("%v after %d times", err, len(s.asked))
	}
}

func TestUnprocessedKeysAreAskedForAgain(t *testing.T) {
	t.Parallel()
	key := `{"pk":{"S":"EMAIL#a@b.c"},"sk":{"S":"EMAIL"}}`
	stuck := &scripted{status: 200, body: `{"Responses":{},"UnprocessedKeys":{"t":{"Keys":[` + key + `]}}}`}
	server := httptest.NewServer(stuck)
	t.Cleanup(server.Close)
	if _, err := clientOf(server.URL).Table("t").BatchGet(t.Context(), db.EmailKey("a@b.c")); class(err) != "unavailable" {
		t.Errorf("%v", err)
	}
	if n := len(stuck.asked); n < 2 || n > 10 {
		t.Errorf("asked %d times", n)
	}
	var calls atomic.Int32
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if calls.Add(1) == 1 {
			_, _ = io.WriteString(w, stuck.body)
			return
		}
		_, _ = io.WriteString(w, `{"Responses":{"t":[`+key+`]}}`)
	}))
	t.Cleanup(slow.Close)
	found, err := clientOf(slow.URL).Table("t").BatchGet(t.Context(), db.EmailKey("a@b.c"))
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}

// forgetful stands before a DynamoDB and, for as long as lose is above zero, passes
// a request on but cuts the connection in place of the answer.
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

func TestAWriteWhoseAnswerWasLostDoesNotFailOnItself(t *testing.T) {
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
		{"update, told what its own is", func() error {
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
	// Somebody else's write is still in the way.
	if err := do(t, c, table.Create(db.EmailKey("a@b.c"), item("1"))); class(err) != "condition" {
		t.Errorf("created over another: %v", err)
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
