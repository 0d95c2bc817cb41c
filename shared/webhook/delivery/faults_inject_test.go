package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"

	"devplatform/infra/local/dynamodb/dynamotest"
)

// The faults that a faultInjector injects.
const (
	faultCallLost         = "a call is lost"
	faultResponseLost     = "a response is lost"
	faultPartialBatch     = "a batch of messages is rejected in part"
	faultKilled           = "a function is killed"
	faultPanic            = "a killed function panics"
	faultRecordsReplayed  = "a batch of stream records is replayed"
	faultMessagesRepeated = "messages are delivered twice"
	faultMessagesLost     = "messages are lost"
	faultEndpointFails    = "an endpoint fails"
	faultEndpointSlow     = "an endpoint is slow"
)

// faultInjector is a transport between the functions and AWS that injects random faults.
type faultInjector struct {
	next   http.RoundTripper
	mu     sync.Mutex
	random *rand.Rand
	off    bool
	counts map[string]int // of the injected faults
}

// inject decides at random whether a fault occurs, with the given probability. It counts the faults.
func (i *faultInjector) inject(fault string, probability float64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	occurs := !i.off && i.random.Float64() < probability
	if occurs {
		i.counts[fault]++
	}
	return occurs
}

// randomInt returns a random number from 0 to n-1.
func (i *faultInjector) randomInt(n int) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.random.IntN(n)
}

// killable is an killable of a function that may be killed. Its calls fail after it was killed.
type killable struct {
	mu        sync.Mutex
	stepsLeft int // until it is killed; 0: it is not killed
	cancel    context.CancelFunc
	killed    bool
}

type killableKey struct{}

// killableOf returns the killable that a context belongs to; nil if there is none.
func killableOf(ctx context.Context) *killable {
	v, _ := ctx.Value(killableKey{}).(*killable)
	return v
}

var errKilled = errors.New("the function was killed")

// step counts a step of the killable. There is one step before and one after each call. step returns errKilled if the
// killable was killed. A nil killable is never killed.
func (v *killable) step() error {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stepsLeft--; v.stepsLeft == 0 {
		v.killed = true
		v.cancel()
	}
	if v.killed {
		return errKilled
	}
	return nil
}

// invoke runs a function that may be killed after some steps. It reports whether the function completed.
func (i *faultInjector) invoke(ctx context.Context, probability float64, run func(context.Context)) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := &killable{cancel: cancel}
	if i.inject(faultKilled, probability) {
		v.stepsLeft = 1 + i.randomInt(60)
	}
	run(context.WithValue(ctx, killableKey{}, v))
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.killed
}

func (i *faultInjector) RoundTrip(r *http.Request) (*http.Response, error) {
	v := killableOf(r.Context())
	if err := v.step(); err != nil {
		return nil, err
	}
	if i.inject(faultCallLost, 0.02) {
		return nil, errors.New(faultCallLost)
	}
	response, err := i.forward(r)
	if err != nil {
		return nil, err
	}
	lost := i.inject(faultResponseLost, 0.02)
	if v.step() != nil || lost {
		_ = response.Body.Close()
		return nil, errors.New(faultResponseLost)
	}
	return response, nil
}

// forward makes the call. It may reject some messages of a batch.
func (i *faultInjector) forward(r *http.Request) (*http.Response, error) {
	if dynamotest.Operation(r) != "SendMessageBatch" || !i.inject(faultPartialBatch, 0.2) {
		return i.next.RoundTrip(r)
	}
	var batch struct {
		QueueURL string            `json:"QueueUrl"`
		Entries  []json.RawMessage `json:"Entries"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &batch) != nil || len(batch.Entries) < 2 {
		r.Body = io.NopCloser(bytes.NewReader(body))
		return i.next.RoundTrip(r)
	}
	accepted := 1 + i.randomInt(len(batch.Entries)-1)
	rejected := batch.Entries[accepted:]
	batch.Entries = batch.Entries[:accepted]
	body, _ = json.Marshal(batch)
	part := r.Clone(r.Context())
	part.Body, part.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response, err := i.next.RoundTrip(part)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	return addFailed(response, rejected)
}

// addFailed adds the rejected entries to the response to a SendMessageBatch call.
func addFailed(response *http.Response, rejected []json.RawMessage) (*http.Response, error) {
	var output map[string]any
	err := json.NewDecoder(response.Body).Decode(&output)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	var failed []any
	for _, entry := range rejected {
		var message struct{ Id string } //nolint:revive // the spelling of SQS
		_ = json.Unmarshal(entry, &message)
		failed = append(failed, map[string]any{"Id": message.Id, "Code": "InternalError", "SenderFault": false})
	}
	output["Failed"] = failed
	body, _ := json.Marshal(output)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Del("Content-Length")
	return response, nil
}
