package id_test

import (
	"testing"
	"time"

	"devplatform/shared/id"
)

// FuzzParts checks that every valid ID has a time, and that Next returns the ID directly behind it.
func FuzzParts(f *testing.F) {
	for _, seed := range []string{
		"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "msg_00000000000000000000000000", "msg_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "msg_8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"msg_01K9ZQ3V7MZZZZZZZZZZZZZZZZ", "msg_01k9zq3v7m8t5xw2abcdefghjk", "msg_01K9ZQ3V7M8T5XW2ABCDEFGHIL", "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "msg_", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, ok := id.Message.Time(s)
		if ok != id.Message.Valid(s) || ok && at.Before(time.Unix(0, 0)) {
			t.Fatalf("%q is of %s, %v", s, at, ok)
		}
		next, more := id.Message.Next(s)
		if !more {
			return
		}
		if later, ok := id.Message.Time(next); !ok || next <= s || !later.Equal(at) {
			t.Fatalf("behind %q is %q, of %s", s, next, later)
		}
	})
}
