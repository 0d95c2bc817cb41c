package triggers

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// FuzzPartial checks that the failed items of a response are in the batch, or the whole batch has failed.
func FuzzPartial(f *testing.F) {
	for _, seed := range []string{
		`{"batchItemFailures":[{"itemIdentifier":"2"}]}`, `{"batchItemFailures":[]}`, `{}`, `null`, ` `, `{"batchItemFailures":[null]}`, `{"batchItemFailures":[{"itemIdentifier":""}]}`,
		`{"batchItemFailures":[{"itemIdentifier":"9"}]}`, `{"batchItemFailures":{}}`, `[]`, `"ok"`, `{"batchItemFailures":[{"itemIdentifier":2}]}`, `{"batchItemFailures":null}`,
	} {
		f.Add([]byte(seed))
	}
	entries := []*entry{{sequence: "1"}, {sequence: "2"}, {sequence: "3"}}
	index := map[string]int{"1": 0, "2": 1, "3": 2}
	f.Fuzz(func(t *testing.T, answer []byte) {
		named, err := readPartial(answer, index, "sequence number")
		for i := range named {
			if i < 0 || i >= len(entries) {
				t.Fatalf("%q names %d", answer, i)
			}
		}
		first, reason := firstFailure(answer, entries)
		switch {
		case err != nil && (first != 0 || reason == ""):
			t.Fatalf("%q: from %d on, because %q; %v", answer, first, reason, err)
		case err == nil && len(named) == 0 && reason != "":
			t.Fatalf("%q: all is well, but %q", answer, reason)
		case err == nil && len(named) > 0 && !named[first]:
			t.Fatalf("%q: from %d on of %v", answer, first, named)
		}
	})
}

// FuzzPositions checks that only a complete file of positions of the mapping is accepted.
func FuzzPositions(f *testing.F) {
	p := &positionFile{mapping: "m", now: positions{Stream: "arn", Shards: map[string]position{"s": {positionAfter, "17"}}}}
	whole, err := p.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, false)
	f.Add(whole[:len(whole)/2], false)
	f.Add([]byte(`{"stream":"arn","shards":{"s":{"kind":"end"}}}`), true)
	f.Add([]byte(`{"stream":null,"shards":{"s":null}}`), true)
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed { // a correct checksum, so that the content is checked
			file, err := json.Marshal(map[string]any{"format": positionFormat, "mapping": "m", "sha256": checksum(data), "positions": json.RawMessage(data)})
			if err != nil {
				return
			}
			data = file
		}
		found, err := decodePositions(data, "m")
		if err != nil {
			return
		}
		again, err := (&positionFile{mapping: "m", now: found}).encode()
		if err != nil {
			t.Fatalf("%+v: %v", found, err)
		}
		same, err := decodePositions(again, "m")
		if err != nil || same.Stream != found.Stream || !maps.Equal(same.Shards, found.Shards) {
			t.Fatalf("%+v came back as %+v, %v", found, same, err)
		}
	})
}

// FuzzFilterable checks that filters see a body of JSON decoded, and any other as a string.
func FuzzFilterable(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `[{"a":1},2,[{"b":1}]]`, `17`, `"x"`, `null`, `{"a":1}]`, `{"a":1} {}`, `[]}`, ``, `{"a":1e999}`, "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		payload, err := json.Marshal(map[string]string{"body": body, "messageId": "m"})
		if err != nil {
			t.Fatal(err)
		}
		event := filterable(payload, body)
		if event["messageId"] != "m" {
			t.Fatalf("%v", event)
		}
		switch seen := event["body"].(type) {
		case string:
			if object := strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "{"); object && json.Valid([]byte(body)) {
				t.Fatalf("%q is seen as text", body)
			}
		default:
			if !json.Valid([]byte(body)) {
				t.Fatalf("%q is seen as %v", body, seen)
			}
		}
	})
}
