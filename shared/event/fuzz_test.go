package event_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

// FuzzFromItem checks that FromItem returns a complete event or an error.
func FuzzFromItem(f *testing.F) {
	const whole = `{"id":{"S":"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"},"type":{"S":"file.updated"},"workspaceId":{"S":"ws_1"},"projectId":{"S":"prj_1"},` +
		`"payload":{"S":"{\"timestamp\":\"2026-01-31T08:15:30.123Z\"}"},"expiresAt":{"N":"1763640000"},"replaced":{"M":{"id":{"S":"c"},"chunks":{"N":"3"}}}}`
	f.Add([]byte(whole))
	f.Add([]byte(strings.Replace(whole, "2026-01-31T08:15:30.123Z", "yesterday", 1)))
	f.Add([]byte(strings.Replace(whole, `{\"timestamp`, `[{\"timestamp`, 1)))
	f.Add([]byte(`{"id":{"S":"evt_1"},"replaced":{"NULL":true}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		r, err := event.FromItem(item)
		if err != nil {
			return
		}
		if !id.Event.Valid(r.ID) || r.Type == "" || r.WorkspaceID == "" || r.Payload == "" {
			t.Fatalf("%+v", r)
		}
		if at, err := r.Timestamp(); (err == nil) != strings.Contains(string(r.Payload), at.Format("2006-01-02T15:04:05.000Z")) && !strings.Contains(string(r.Payload), `\u`) {
			t.Fatalf("%q happened at %s, %v", r.Payload, at, err)
		}
		written, err := db.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := event.FromItem(written); err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v came back as %+v, %v", r, again, err)
		}
	})
}

// FuzzMatches checks that only valid patterns match, and that Everything matches whatever they match.
func FuzzMatches(f *testing.F) {
	for _, seed := range [][2]string{{"*", "file.created"}, {"file.*", "file.created"}, {"file.", "file.created"}, {"*.created", "file.created"}, {"file.*", "file."}, {"webhook.*", "webhook.test"}} {
		f.Add(seed[0], seed[1])
	}
	all := event.Subscribable()
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if !event.Matches(pattern, event.Type(name)) {
			return
		}
		group, _, _ := strings.Cut(name, ".")
		if !slices.Contains(all, pattern) || !slices.Contains([]string{"*", name, group + ".*"}, pattern) || !event.Matches("*", event.Type(name)) {
			t.Fatalf("%q matches %q", pattern, name)
		}
	})
}
