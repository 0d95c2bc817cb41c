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
	const valid = `{"id":{"S":"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"},"type":{"S":"file.updated"},` +
		`"workspaceId":{"S":"ws_1"},"projectId":{"S":"prj_1"},` +
		`"payload":{"S":"{\"timestamp\":\"2026-01-31T08:15:30.123Z\"}"},"expiresAt":{"N":"1763640000"},` +
		`"replaced":{"M":{"id":{"S":"c"},"chunks":{"N":"3"}}}}`
	f.Add([]byte(valid))
	f.Add([]byte(strings.Replace(valid, "2026-01-31T08:15:30.123Z", "yesterday", 1)))
	f.Add([]byte(strings.Replace(valid, `{\"timestamp`, `[{\"timestamp`, 1)))
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
			t.Fatalf("got the incomplete record %+v", r)
		}
		at, err := r.Timestamp()
		payload := string(r.Payload)
		inPayload := strings.Contains(payload, at.Format("2006-01-02T15:04:05.000Z"))
		if (err == nil) != inPayload && !strings.Contains(payload, `\u`) { // \u can escape any character of the timestamp
			t.Fatalf("got timestamp %s, %v for the payload %q", at, err, payload)
		}
		encoded, err := db.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if decoded, err := event.FromItem(encoded); err != nil || !reflect.DeepEqual(decoded, r) {
			t.Fatalf("encoding and decoding changed %+v to %+v, %v", r, decoded, err)
		}
	})
}

// FuzzMatches checks that only valid patterns match, and that Everything matches each type that any pattern matches.
func FuzzMatches(f *testing.F) {
	f.Add("*", "file.created")
	f.Add("file.*", "file.created")
	f.Add("file.", "file.created")
	f.Add("*.created", "file.created")
	f.Add("file.*", "file.")
	f.Add("webhook.*", "webhook.test")
	all := event.Subscribable()
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if !event.Matches(pattern, event.Type(name)) {
			return
		}
		group, _, _ := strings.Cut(name, ".")
		if !slices.Contains(all, pattern) || !slices.Contains([]string{"*", name, group + ".*"}, pattern) {
			t.Fatalf("the pattern %q matches %q", pattern, name)
		}
		if !event.Matches(event.Everything, event.Type(name)) {
			t.Fatalf("the pattern %q matches %q, but * does not", pattern, name)
		}
	})
}
