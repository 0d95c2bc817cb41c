package values

import "testing"

// FuzzDecodeStoredItem checks that decoding damaged bytes fails, or returns an item that can be stored and decoded
// again.
func FuzzDecodeStoredItem(f *testing.F) {
	f.Add(AppendItem(nil, Item{
		{"a", Value{Kind: S, S: "x"}}, {"l", FromList([]Value{{Kind: NULL}, {Kind: BOOL, Bool: true}})}, {"n", FromInt(-17)},
	}))
	f.Add(AppendItem(nil, Item{
		{"b", Value{Kind: B, S: "\x00"}}, {"m", FromMap(Item{{"", Value{Kind: S}}})},
		{"s", Value{Kind: SS, L: []Value{{Kind: S, S: "a"}, {Kind: S, S: "b"}}}},
	}))
	f.Add([]byte{1, 0, byte(N), 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := DecodeStoredItem(data)
		if err != nil {
			return
		}
		again, err := DecodeStoredItem(AppendItem(nil, item))
		if err != nil || !again.Equal(item) {
			t.Fatalf("%x: got %v, error %v after another encoding, want %v", data, again, err, item)
		}
	})
}
