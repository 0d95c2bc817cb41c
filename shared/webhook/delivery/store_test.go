package delivery

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/webhook/sender"
)

// Attempts write only what changes: neither the payload nor the results of earlier attempts are sent to storage again.
func TestSaveWritesOnlyChanges(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var writes []string
	p := newPipeline(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if operation := dynamotest.Operation(r); operation == "PutItem" || operation == "UpdateItem" {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				mu.Lock()
				defer mu.Unlock()
				writes = append(writes, string(body))
			}
			return next.RoundTrip(r)
		})
	})
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/status/500"))
	p.publish(p.newEvent(workspaceID, func(e *event.Record) {
		e.Payload = event.Text(strings.Replace(string(e.Payload), `"type"`, `"note":"a long payload","type"`, 1))
	}))
	p.run()
	d := p.onlyDelivery()
	if len(d.Attempts) != maxTries || !strings.Contains(string(d.Payload), "a long payload") {
		t.Fatalf("delivery: %+v", d)
	}
	payloads, errors := 0, 0
	for _, body := range writes {
		payloads += strings.Count(body, "a long payload")
		errors += strings.Count(body, "status 500")
	}
	if payloads != 1 || errors != maxTries {
		t.Errorf("in %d writes the payload was written %d times, the results of %d attempts %d times", len(writes), payloads, maxTries, errors)
	}
}

// Whatever the transition, the stored delivery is the one that save returns, also when attempts are dropped.
func TestSaveStoresEveryTransition(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, "https://example.com")
	p.publish(p.newEvent(workspaceID))
	now, d := p.now(), p.onlyDelivery()
	save := func(next Delivery) {
		t.Helper()
		stored, err := p.store.save(t.Context(), d, next)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stored, p.onlyDelivery()); diff != "" {
			t.Fatal(diff)
		}
		d = stored
	}
	for i := range maxAttemptsKept + 5 {
		now = now.Add(time.Second)
		save(d.restarted(now, i%2 == 0))
		claimed, at := d.claimed(w, now, 0)
		save(claimed)
		result := sender.Result{StatusCode: 500, Error: "status 500", Response: "busy"}
		next, _ := d.recorded(attemptOf(at, result), i%2 == 0, decide(d, w, result, now, 0), now)
		save(next)
		save(d.deferred(now.Add(time.Hour)))
		save(d.finished(Failed, "the webhook is not active"))
	}
	if len(d.Attempts) != maxAttemptsKept {
		t.Errorf("%d attempts", len(d.Attempts))
	}
}

// Items of earlier versions, which lack attributes, are changed like others.
func TestSaveItemOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, "https://example.com")
	p.publish(p.newEvent(workspaceID))
	d := p.onlyDelivery()
	item, err := db.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	delete(item, "attempts")
	delete(item, "tries")
	item["later"] = &types.AttributeValueMemberS{Value: "x"} // an attribute of another version
	if _, err := p.store.Client.Do(t.Context(), p.store.Table.Put(db.DeliveryKey(d.WebhookID, d.ID), item)); err != nil {
		t.Fatal(err)
	}
	claimed, _ := p.onlyDelivery().claimed(w, p.now(), 0)
	stored, err := p.store.save(t.Context(), p.onlyDelivery(), claimed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored, p.onlyDelivery()); diff != "" || len(stored.Attempts) != 1 {
		t.Error(diff)
	}
}

// A claim sets the time at which the delivery is due, even if the retry job changed it after the delivery was read.
func TestSaveAfterAWake(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, "https://example.com")
	p.publish(p.newEvent(workspaceID))
	read := p.onlyDelivery()
	p.advance(90 * time.Second)
	p.retry()
	if woken := p.onlyDelivery(); woken.Wakes != 1 || woken.DueAt.Equal(*read.DueAt) || woken.Version != read.Version {
		t.Fatalf("not woken: %+v", woken)
	}
	claimed, _ := read.claimed(w, midnight, 0)
	if !claimed.DueAt.Equal(*read.DueAt) {
		t.Fatal("the claim should keep the time that was read")
	}
	if _, err := p.store.save(t.Context(), read, claimed); err != nil {
		t.Fatal(err)
	}
	if d := p.onlyDelivery(); d.Wakes != 0 || !d.DueAt.Equal(*read.DueAt) {
		t.Errorf("woken %d times, due at %v, want %v", d.Wakes, d.DueAt, read.DueAt)
	}
}
