package queue_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"devplatform/shared/config"
	"devplatform/shared/queue"
)

// fakeQueue is an HTTP server that implements the operations SendMessageBatch and ChangeMessageVisibility of SQS. Tests
// determine which calls and entries fail.
type fakeQueue struct {
	t *testing.T
	// reject returns the failure of an entry, or nil if the entry is accepted. attempt is 1 for the first attempt to send
	// the message. If reject is nil, all entries are accepted.
	reject func(body string, attempt int) *rejection
	// intercept returns true if it sent the response to a call. Otherwise the call is processed normally. call is 1 for
	// the first call. If intercept is nil, all calls are processed normally.
	intercept func(w http.ResponseWriter, call int) bool
	// badMD5 makes the digests of message bodies in the responses wrong.
	badMD5 bool

	mu       sync.Mutex
	inFlight int // the number of calls in flight
	record   record
}

// record contains the calls so far and their effects.
type record struct {
	calls       []request
	maxInFlight int            // the maximum number of calls in flight
	attempts    map[string]int // the number of attempts to send a message, by body
	stored      []entry
	visibility  map[string]int // the latest visibility timeouts in seconds, by receipt handle
}

// recorded returns a copy of the record.
func (f *fakeQueue) recorded() record {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.record
	r.attempts, r.visibility = maps.Clone(r.attempts), maps.Clone(r.visibility)
	return r
}

// rejection is the failure of an entry in a batch. If Code is empty, the response does not mention the entry at all.
type rejection struct {
	Code        string
	SenderFault bool
}

// request contains the fields of the requests of both operations.
type request struct {
	QueueURL          string `json:"QueueUrl"`
	Entries           []entry
	ReceiptHandle     string
	VisibilityTimeout int
}

// entry is a message in a SendMessageBatch request.
type entry struct {
	ID             string `json:"Id"`
	MessageBody    string
	MessageGroupID string `json:"MessageGroupId"`
	DelaySeconds   int
}

// newFake starts a fake and returns it, with a Queue that uses it.
func newFake(t *testing.T) (*fakeQueue, queue.Queue) {
	t.Helper()
	f := &fakeQueue{t: t, record: record{attempts: map[string]int{}, visibility: map[string]int{}}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	client := queue.New(config.AWS{
		Region:          "us-east-1",
		AccessKeyID:     "test",
		SecretAccessKey: "test",
		SQSEndpoint:     server.URL,
		Endpoint:        "http://unused.invalid",
	})
	return f, client.Queue(server.URL + "/000000000000/deliveries")
}

func (f *fakeQueue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in request
	err := json.NewDecoder(r.Body).Decode(&in)
	if err != nil || !strings.HasSuffix(in.QueueURL, "/000000000000/deliveries") {
		f.t.Errorf("got request %+v, error %v, want a request with the URL of the queue", in, err)
	}
	f.mu.Lock()
	f.record.calls = append(f.record.calls, in)
	call := len(f.record.calls)
	f.inFlight++
	f.record.maxInFlight = max(f.record.maxInFlight, f.inFlight)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.inFlight--
	}()
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if f.intercept != nil && f.intercept(w, call) {
		return
	}
	switch target := r.Header.Get("X-Amz-Target"); target {
	case "AmazonSQS.SendMessageBatch":
		f.send(w, in.Entries)
	case "AmazonSQS.ChangeMessageVisibility":
		f.mu.Lock()
		defer f.mu.Unlock()
		f.record.visibility[in.ReceiptHandle] = in.VisibilityTimeout
	default:
		f.t.Errorf("unexpected operation %s", target)
	}
}

func (f *fakeQueue) send(w http.ResponseWriter, entries []entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	response := map[string][]map[string]any{"Successful": {}, "Failed": {}}
	for _, e := range entries {
		f.record.attempts[e.MessageBody]++
		if rejected := f.rejectionOf(e); rejected != nil {
			if rejected.Code != "" {
				response["Failed"] = append(response["Failed"], map[string]any{
					"Id": e.ID, "Code": rejected.Code, "SenderFault": rejected.SenderFault, "Message": "rejected by the test",
				})
			}
			continue
		}
		f.record.stored = append(f.record.stored, e)
		sent := map[string]any{
			"Id":               e.ID,
			"MessageId":        fmt.Sprint("m", len(f.record.stored)),
			"MD5OfMessageBody": md5Hex(e.MessageBody),
		}
		if f.badMD5 {
			sent["MD5OfMessageBody"] = md5Hex("another body")
		}
		response["Successful"] = append(response["Successful"], sent)
	}
	_ = json.NewEncoder(w).Encode(response)
}

// rejectionOf returns the rejection of the current attempt to send an entry, or nil if the entry is accepted.
func (f *fakeQueue) rejectionOf(e entry) *rejection {
	if f.reject == nil {
		return nil
	}
	return f.reject(e.MessageBody, f.record.attempts[e.MessageBody])
}

// md5Hex returns the MD5 digest of s in hexadecimal.
func md5Hex(s string) string {
	m := md5.Sum([]byte(s))
	return hex.EncodeToString(m[:])
}

// bodies returns the bodies of the stored messages, sorted.
func (f *fakeQueue) bodies() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, e := range f.record.stored {
		all = append(all, e.MessageBody)
	}
	slices.Sort(all)
	return all
}
