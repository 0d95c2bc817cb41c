package delivery

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
)

// putWebhook stores a webhook. It replaces an existing one.
func (f *fixture) putWebhook(w Webhook) {
	f.t.Helper()
	item, err := db.Encode(w)
	if err != nil {
		f.t.Fatal(err)
	}
	f.putItem(db.WebhookKey(w.WorkspaceID, w.ID), item)
}

func (f *fixture) putItem(key db.Key, item db.Item) {
	f.t.Helper()
	if _, err := f.store.Client.Do(f.t.Context(), f.store.Table.Put(key, item)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) deleteWebhook(w Webhook) {
	f.t.Helper()
	write := f.store.Table.Delete(db.WebhookKey(w.WorkspaceID, w.ID))
	if _, err := f.store.Client.Do(f.t.Context(), write); err != nil {
		f.t.Fatal(err)
	}
}

// storedWebhook returns the stored version of a webhook.
func (f *fixture) storedWebhook(w Webhook) Webhook {
	f.t.Helper()
	w, err := f.store.Webhook(f.t.Context(), w.WorkspaceID, w.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

// allWebhooks returns the stored webhooks that can be decoded.
func (f *fixture) allWebhooks() (all []Webhook) {
	f.t.Helper()
	for _, item := range dynamotest.Dump(f.t, f.sdk, f.table) {
		if w, err := db.Decode[Webhook](item); err == nil && strings.HasPrefix(db.KeyOf(item).SK, "WEBHOOK#") {
			all = append(all, w)
		}
	}
	return all
}

// streamRecords returns the stream records of events.
func streamRecords(t *testing.T, events ...event.Record) []lambdafn.StreamRecord {
	t.Helper()
	records := make([]lambdafn.StreamRecord, len(events))
	for i, e := range events {
		item, err := db.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		records[i] = lambdafn.StreamRecord{SequenceNumber: fmt.Sprint(i + 1), EventName: "INSERT", NewImage: item}
	}
	return records
}

// putEvents stores events.
func (f *fixture) putEvents(events ...event.Record) {
	f.t.Helper()
	f.stored = append(f.stored, events...)
	for _, e := range events {
		item, err := db.Encode(e)
		if err != nil {
			f.t.Fatal(err)
		}
		write := f.store.Events.Put(event.KeyOf(e.WorkspaceID, e.ProjectID, e.ID), item)
		if _, err := f.store.Client.Do(f.t.Context(), write); err != nil {
			f.t.Fatal(err)
		}
	}
}

// allDeliveries returns the stored deliveries.
func (f *fixture) allDeliveries() (all []Delivery) {
	f.t.Helper()
	for _, item := range dynamotest.Dump(f.t, f.sdk, f.table) {
		if !strings.HasPrefix(db.KeyOf(item).SK, "DELIVERY#") {
			continue
		}
		d, err := db.Decode[Delivery](item)
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// onlyDelivery returns the only stored delivery.
func (f *fixture) onlyDelivery() Delivery {
	f.t.Helper()
	all := f.allDeliveries()
	if len(all) != 1 {
		f.t.Fatalf("got %d deliveries, want 1", len(all))
	}
	return all[0]
}

// wantDelivery checks the status and the number of attempts of the only delivery, and returns it.
func (f *fixture) wantDelivery(status Status, attempts int) Delivery {
	f.t.Helper()
	d := f.onlyDelivery()
	if d.Status != status || len(d.Attempts) != attempts {
		f.t.Fatalf("got delivery %+v, want %s with %d attempts", d, status, attempts)
	}
	return d
}

// changeDelivery stores the next version of the only delivery, like another writer.
func (f *fixture) changeDelivery(next func(Delivery) Delivery) {
	f.t.Helper()
	d := f.onlyDelivery()
	if _, err := f.store.save(f.t.Context(), d, next(d)); err != nil {
		f.t.Error(err)
	}
}

// redeliver requests a redelivery of the only delivery, without a message.
func (f *fixture) redeliver() {
	f.t.Helper()
	f.changeDelivery(func(d Delivery) Delivery { return d.afterRestart(f.now(), true) })
}

// storedSlots returns the ends of the leases of an account's slots.
func (f *fixture) storedSlots(account string) (ends []time.Time) {
	f.t.Helper()
	item, err := f.store.Table.Get(f.t.Context(), db.SlotsKey(account))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		f.t.Fatal(err)
	}
	for name, value := range item {
		if text, ok := value.(*types.AttributeValueMemberS); ok && strings.HasPrefix(name, "slot") {
			end, _, _ := strings.Cut(text.Value, " ")
			at, err := clock.ParseTimestamp(end)
			if err != nil {
				f.t.Fatal(err)
			}
			ends = append(ends, at.Time())
		}
	}
	return ends
}

// saveHealth stores the health of an endpoint after an attempt, even if it has not changed.
func (f *fixture) saveHealth(w Webhook, after Health) {
	f.t.Helper()
	if err := f.store.putHealth(f.t.Context(), w, after, after.LastStatus == Succeeded); err != nil {
		f.t.Error(err)
	}
}
