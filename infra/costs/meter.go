package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/s3"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/process"
)

// meter is an endpoint of DynamoDB, S3, SQS, SES and Secrets Manager that counts the units that AWS would bill. It asks
// DynamoDB for the consumed capacity of every call.
type meter struct {
	*httptest.Server
	closeServices func()

	eventsTable, mailTable string

	mu    sync.Mutex
	units units
	// Work in the background: events that were stored, events that report replaced contents, mails that were stored, and
	// messages that were sent without a delay and not deleted.
	events, replacements, mailsStored, messages int
}

// newMeter starts the services. They store the contents of objects in dir.
func newMeter(dir, eventsTable, mailTable string) (*meter, error) {
	logger := slog.New(slog.DiscardHandler)
	const account = "123456789012"
	db, err := dynamodb.Open(dynamodb.Options{Now: time.Now, Logger: logger, Account: account})
	if err != nil {
		return nil, err
	}
	queues, err := sqs.Open(sqs.Options{Now: time.Now, Logger: logger, Region: "us-east-1", Account: account})
	if err != nil {
		return nil, err
	}
	vault, err := secrets.Open(secrets.Options{Now: time.Now, Logger: logger, Account: account})
	if err != nil {
		return nil, err
	}
	folder, err := datafolder.Open(datafolder.Options{Dir: filepath.Join(dir, "data"), Logger: logger})
	if err != nil {
		return nil, err
	}
	objects, err := s3.Open(s3.Options{Folder: folder, Now: time.Now, Logger: logger})
	if err != nil {
		return nil, err
	}
	m := &meter{eventsTable: eventsTable, mailTable: mailTable, closeServices: func() {
		_, _, _, _ = db.Close(), queues.Close(), objects.Close(), folder.Close()
	}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		switch {
		case slices.Contains(readOperations, operation), slices.Contains(writeOperations, operation):
			m.serveDynamoDB(w, r, db, operation)
		case service == "AmazonSQS":
			m.serveSQS(w, r, queues, operation)
		case service == "secretsmanager":
			vault.ServeHTTP(w, r)
		case r.URL.Path == "/v2/email/outbound-emails":
			m.serveSES(w)
		case s3.SignedFor(r) == "s3":
			m.serveS3(w, r, objects)
		default:
			db.ServeHTTP(w, r) // what Lambda reads from streams is free
		}
	}))
	return m, nil
}

func (m *meter) close() {
	m.Close()
	m.closeServices()
}

// serveDynamoDB counts a call and its read or write units. DynamoDB already reports twice the units for transactions.
func (m *meter) serveDynamoDB(w http.ResponseWriter, r *http.Request, db http.Handler, operation string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has closed the connection
	}
	body = bytes.Replace(body, []byte("{"), []byte(`{"ReturnConsumedCapacity":"TOTAL",`), 1)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response := forward(w, r, db)
	type capacity struct{ CapacityUnits float64 }
	var received struct{ ConsumedCapacity json.RawMessage }
	_ = json.Unmarshal(response, &received) // errors have no capacity
	// Batches and transactions report a list of capacities, other operations report one.
	list := make([]capacity, 1)
	if json.Unmarshal(received.ConsumedCapacity, &list[0]) != nil {
		_ = json.Unmarshal(received.ConsumedCapacity, &list)
	}
	unit := reads
	if slices.Contains(writeOperations, operation) {
		unit = writes
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.units[calls]++
	if unit == writes {
		m.events += bytes.Count(body, []byte(`"`+m.eventsTable+`"`))
		m.replacements += bytes.Count(body, []byte(`"replaced":{"M":{`))
		// Webhooks have sealed secrets, too: without the mail table, the product is 0.
		m.mailsStored += bytes.Count(body, []byte(`"`+m.mailTable+`"`)) * bytes.Count(body, []byte(`"sealed":`))
	}
	for _, c := range list {
		m.units[unit] += c.CapacityUnits
	}
}

// The operations on items: AWS bills their read or write units.
var (
	readOperations  = []string{"GetItem", "BatchGetItem", "Query"}
	writeOperations = []string{"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
)

// serveSQS counts a request, except a receive without a message. The function background counts these.
func (m *meter) serveSQS(w http.ResponseWriter, r *http.Request, queues http.Handler, operation string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has closed the connection
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	response := forward(w, r, queues)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case operation == "ReceiveMessage" && !bytes.Contains(response, []byte("ReceiptHandle")):
		return
	case strings.HasPrefix(operation, "SendMessage"):
		m.messages += bytes.Count(body, []byte(`"MessageBody":`)) - bytes.Count(body, []byte(`"DelaySeconds":`))
	case strings.HasPrefix(operation, "DeleteMessage"):
		m.messages -= bytes.Count(body, []byte(`"ReceiptHandle":`))
	}
	m.units[queue]++
}

// serveSES counts a mail. It sends nothing.
func (m *meter) serveSES(w http.ResponseWriter) {
	m.mu.Lock()
	m.units[mails]++
	m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"MessageId":"costs"}`))
}

// serveS3 counts a request. The deletion of objects is free.
func (m *meter) serveS3(w http.ResponseWriter, r *http.Request, objects http.Handler) {
	objects.ServeHTTP(w, r)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case r.Method == http.MethodDelete || r.URL.Query().Has("delete"):
	case r.Method == http.MethodPut || r.Method == http.MethodPost || r.URL.Query().Has("list-type"):
		m.units[puts]++
	default:
		m.units[gets]++
	}
}

// forward forwards a request, and returns the body of the response.
func forward(w http.ResponseWriter, r *http.Request, to http.Handler) []byte {
	response := httptest.NewRecorder()
	to.ServeHTTP(response, r)
	for name, values := range response.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(response.Code)
	_, _ = w.Write(response.Body.Bytes())
	return response.Body.Bytes()
}

// lineBytes is the assumed length of a line of a function's log, with the 26 bytes that CloudWatch adds.
const lineBytes = 300

// functionLine matches a line of a function in the log of the platform: its name, the ID of the invocation, and for a
// stream the number of records.
var functionLine = regexp.MustCompile(`(?m)^\S+ \S+ (\w+)Function ([0-9a-f-]{36}): (?:stream batch .* records=(\d+))?`)

// counted returns the units since the start. It reports whether the work in the background is complete.
func (m *meter) counted(p *process.Process) (u units, isComplete bool) {
	m.mu.Lock()
	u, events, replacements, mailsStored, messages := m.units, m.events, m.replacements, m.mailsStored, m.messages
	m.mu.Unlock()
	requests, records := map[string]bool{}, map[string]int{}
	lines := functionLine.FindAllStringSubmatch(p.Log.String(), -1)
	for _, line := range lines {
		requests[line[2]] = true
		n, _ := strconv.Atoi(line[3])
		records[line[1]] += n
	}
	u[invocations] = float64(len(requests))
	u[logBytes] = float64(len(lines) * lineBytes)
	return u, records["WebhookFanout"] >= events && records["ProjectCleanup"] >= replacements &&
		records["Mailer"] >= mailsStored && messages <= 0
}

// settle waits until the work in the background is complete and nothing was counted for a while. It returns the units
// since the start.
func (m *meter) settle(p *process.Process) (units, error) {
	before, _ := m.counted(p)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
		now, isComplete := m.counted(p)
		if isComplete && now == before {
			return now, nil
		}
		before = now
	}
	return before, errors.New("the work in the background does not end")
}
