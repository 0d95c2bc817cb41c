package id_test

import (
	"testing"
	"time"

	"devplatform/shared/id"
)

// FuzzNext checks that every valid ID has a time, and that Next returns a greater ID with the same time.
func FuzzNext(f *testing.F) {
	for _, seed := range []string{
		"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK",
		"msg_00000000000000000000000000",
		"msg_7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"msg_8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"msg_01K9ZQ3V7MZZZZZZZZZZZZZZZZ",
		"msg_01k9zq3v7m8t5xw2abcdefghjk",
		"msg_01K9ZQ3V7M8T5XW2ABCDEFGHIL",
		"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK",
		"msg_",
		"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, ok := id.Message.Time(s)
		if ok != id.Message.Valid(s) || ok && at.Before(time.Unix(0, 0)) {
			t.Fatalf("Time(%q) = %s, %v, want it to agree with Valid", s, at, ok)
		}
		next, ok := id.Message.Next(s)
		if !ok {
			return
		}
		if nextTime, ok := id.Message.Time(next); !ok || next <= s || !nextTime.Equal(at) {
			t.Fatalf("Next(%q) = %q with time %s, want a greater ID with time %s", s, next, nextTime, at)
		}
	})
}
