package queue_test

import (
	"crypto/md5"
	"encoding/binary"
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

// fakeQueue is a server that implements SQS's protocol. Tests determine which calls and entries fail.
type fakeQueue struct {
	t      *testing.T
	refuse func(body string, attempt int) *refusal           // of an entry, tried for the attempt-th time from 1; nil: none
	breaks func(w http.ResponseWriter, call int) (done bool) // of a call, from 1; nil: none
	badMD5 bool

	mu     sync.Mutex
	now    int // how many calls are under way
	record record
}

// record contains the calls so far and the messages that were stored.
type record struct {
	calls  []request
	most   int // maximum number of calls in flight
	tries  map[string]int
	stored []entry
	hidden map[string]int
}

// seen returns a copy of the record.
func (f *fakeQueue) seen() record {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.record
	r.tries, r.hidden = maps.Clone(r.tries), maps.Clone(r.hidden)
	return r
}

type refusal struct {
	Code        string
	SenderFault bool
}

type request struct {
	QueueURL          string `json:"QueueUrl"`
	Entries           []entry
	ReceiptHandle     string
	VisibilityTimeout int
}

type entry struct {
	ID                string `json:"Id"`
	MessageBody       string
	MessageGroupID    string `json:"MessageGroupId"`
	DelaySeconds      int
	MessageAttributes map[string]struct{ DataType, StringValue string }
}

func newFake(t *testing.T) (*fakeQueue, queue.Queue) {
	t.Helper()
	f := &fakeQueue{t: t, record: record{tries: map[string]int{}, hidden: map[string]int{}}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	client := queue.New(config.AWS{Region: "us-east-1", AccessKeyID: "test", SecretAccessKey: "test", SQSEndpoint: server.URL, Endpoint: "http://nobody.invalid"})
	return f, client.Queue(server.URL + "/000000000000/deliveries")
}

func (f *fakeQueue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !strings.HasSuffix(in.QueueURL, "/000000000000/deliveries") {
		f.t.Errorf("%v, %+v", err, in)
	}
	f.mu.Lock()
	f.record.calls = append(f.record.calls, in)
	call := len(f.record.calls)
	f.now++
	f.record.most = max(f.record.most, f.now)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.now--
	}()
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if f.breaks != nil && f.breaks(w, call) {
		return
	}
	switch target := r.Header.Get("X-Amz-Target"); target {
	case "AmazonSQS.SendMessageBatch":
		f.send(w, in.Entries)
	case "AmazonSQS.ChangeMessageVisibility":
		f.mu.Lock()
		defer f.mu.Unlock()
		f.record.hidden[in.ReceiptHandle] = in.VisibilityTimeout
	default:
		f.t.Errorf("%s was called", target)
	}
}

func (f *fakeQueue) send(w http.ResponseWriter, entries []entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	answer := map[string][]map[string]any{"Successful": {}, "Failed": {}}
	for _, e := range entries {
		f.record.tries[e.MessageBody]++
		if f.refuse != nil {
			if no := f.refuse(e.MessageBody, f.record.tries[e.MessageBody]); no != nil {
				if no.Code != "" { // else the answer forgets it
					answer["Failed"] = append(answer["Failed"], map[string]any{"Id": e.ID, "Code": no.Code, "SenderFault": no.SenderFault, "Message": "no"})
				}
				continue
			}
		}
		f.record.stored = append(f.record.stored, e)
		sent := map[string]any{"Id": e.ID, "MessageId": fmt.Sprint("m", len(f.record.stored)), "MD5OfMessageBody": sum(e.MessageBody)}
		if len(e.MessageAttributes) > 0 {
			sent["MD5OfMessageAttributes"] = sum(encoded(e))
		}
		if f.badMD5 {
			sent["MD5OfMessageBody"] = sum("another")
		}
		answer["Successful"] = append(answer["Successful"], sent)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func sum(s string) string {
	m := md5.Sum([]byte(s))
	return hex.EncodeToString(m[:])
}

// encoded returns the encoding of attributes from which SQS computes their digest.
func encoded(e entry) string {
	var out []byte
	add := func(s string) { out = append(binary.BigEndian.AppendUint32(out, uint32(len(s))), s...) }
	for _, name := range slices.Sorted(maps.Keys(e.MessageAttributes)) {
		add(name)
		add(e.MessageAttributes[name].DataType)
		out = append(out, 1)
		add(e.MessageAttributes[name].StringValue)
	}
	return string(out)
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
