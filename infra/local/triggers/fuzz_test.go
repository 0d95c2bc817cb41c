package triggers

import "testing"

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
