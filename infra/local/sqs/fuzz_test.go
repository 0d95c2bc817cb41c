package sqs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzEntry checks that a record that can be read is written again as it was.
func FuzzEntry(f *testing.F) {
	m := &message{sent: 1795176000000, first: 1, last: 2, visible: 3, receives: 4, generation: 5, source: arnOf("q")}
	f.Add(m.encode("tenant"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, value []byte) {
		m, group, err := decodeMessage(7, value)
		if err != nil {
			return
		}
		again, sameGroup, err := decodeMessage(7, m.encode(group))
		if err != nil || sameGroup != group || !cmp.Equal(m, again, cmp.AllowUnexported(message{})) {
			t.Errorf("%x: got %+v, then %+v, %v", value, m, again, err)
		}
	})
}

// FuzzReceipt checks that only one text is valid for each handle.
func FuzzReceipt(f *testing.F) {
	q := &queue{queueRecord: queueRecord{ID: 3}}
	f.Add(receipt{3, 1 << 41, 9}.String())
	f.Add("AQEBgarbage")
	f.Add(strings.ToUpper(receipt{3, 1 << 41, 0xab}.String()))
	f.Fuzz(func(t *testing.T, handle string) {
		if r, err := q.parseReceipt(handle); err == nil && r.String() != handle {
			t.Errorf("%q was parsed as %q", handle, r.String())
		}
	})
}

// FuzzRequest checks that every operation returns JSON, and never an internal error, for any body.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{`{}`, `{"QueueName":"q"}`, `{"QueueUrl":"http://h/000000000000/q","MessageBody":"x"}`,
		`{"QueueUrl":"http://h/000000000000/q","Entries":[{"Id":"a","MessageBody":"x"}]}`, `{"QueueUrl":"http://h/000000000000/q","Attributes":{"RedrivePolicy":"{}"}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s := openTest(t, nil)
		s.Drain()
		for name := range s.api.Targets[targetPrefix] {
			if got := call(t, s, name, body); got.body == nil || got.status >= 500 || !bytes.HasPrefix([]byte(got.raw), []byte("{")) {
				t.Errorf("%s %q: %d %s", name, body, got.status, got.raw)
			}
		}
	})
}
