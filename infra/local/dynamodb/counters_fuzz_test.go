package dynamodb

import (
	"bytes"
	"testing"
)

// FuzzCounters reads stored counters: whole ones, which are written as they were read, or an error.
func FuzzCounters(f *testing.F) {
	f.Add(counters{3, -4096}.encode(), counters{1, 1 << 40}.encode())
	f.Add([]byte{0x80}, []byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		first, errFirst := parseCounters(a)
		second, errSecond := parseCounters(b)
		if errFirst != nil || errSecond != nil {
			return
		}
		if again, err := parseCounters(first.encode()); err != nil || again != first {
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
		if want := (counters{first.items + second.items, first.bytes + second.bytes}).encode(); !bytes.Equal(x, y) || !bytes.Equal(x, want) {
			t.Fatalf("%v and %v are %x and %x", first, second, x, y)
		}
	})
}
