package storage

import (
	"bytes"
	"testing"

	"devplatform/infra/local/dynamodb/catalog"
)

// FuzzCounters checks that stored counters are decoded exactly, or are an error, and that the order of merges does not
// matter.
func FuzzCounters(f *testing.F) {
	f.Add(encodeCounters(catalog.Counters{Items: 3, Bytes: -4096}), encodeCounters(catalog.Counters{Items: 1, Bytes: 1 << 40}))
	f.Add([]byte{0x80}, []byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		first, errFirst := parseCounters(a)
		second, errSecond := parseCounters(b)
		if errFirst != nil || errSecond != nil {
			return
		}
		if again, err := parseCounters(encodeCounters(first)); err != nil || again != first {
			t.Fatalf("%x is %v, then %v, %v", a, first, again, err)
		}
		var forth, back counterSum
		for _, err := range []error{forth.add(a), forth.MergeNewer(b), back.add(b), back.MergeOlder(a)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		x, _, _ := forth.Finish(true)
		y, _, _ := back.Finish(true)
		if want := encodeCounters(catalog.Counters{Items: first.Items + second.Items, Bytes: first.Bytes + second.Bytes}); !bytes.Equal(x, y) || !bytes.Equal(x, want) {
			t.Fatalf("%v and %v are %x and %x", first, second, x, y)
		}
	})
}
