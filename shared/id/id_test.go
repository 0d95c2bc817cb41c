package id_test

import (
	"crypto/rand"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/shared/id"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func fixed() time.Time { return noon }

func TestIDsAreValidForTheirKindOnly(t *testing.T) {
	t.Parallel()
	kinds := []id.Kind{
		id.User, id.Workspace, id.Project, id.Conversation, id.Message,
		id.Webhook, id.Event, id.Delivery, id.Comment, id.Session, id.Identity, id.Upload, id.Export,
		id.Deployment, id.Invitation, id.Mail, id.Activity,
	}
	g := id.NewGenerator(fixed, rand.Reader)
	for _, kind := range kinds {
		newID := g.New(kind)
		for _, other := range kinds {
			if got, want := other.Valid(newID), other == kind; got != want {
				t.Errorf("kind %q: Valid(%q) = %v, want %v", other, newID, got, want)
			}
		}
	}
}

func TestOnlyTheCanonicalFormIsValid(t *testing.T) {
	t.Parallel()
	valid := "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	if !id.User.Valid(valid) {
		t.Fatalf("Valid(%q) = false, want true", valid)
	}
	for name, invalid := range map[string]string{
		"empty":          "",
		"prefix only":    "usr_",
		"no prefix":      strings.TrimPrefix(valid, "usr_"),
		"lower case":     strings.ToLower(valid),
		"too short":      valid[:len(valid)-1],
		"too long":       valid + "0",
		"space":          " " + valid,
		"line break":     valid + "\n",
		"letter U":       "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJU",
		"letter I for 1": "usr_0IK9ZQ3V7M8T5XW2ABCDEFGHJK",
		"over 128 bits":  "usr_81K9ZQ3V7M8T5XW2ABCDEFGHJK",
		"separator":      "usr_01K9ZQ3V7M8T5XW2ABCDEFGH#K",
	} {
		if id.User.Valid(invalid) {
			t.Errorf("%s: Valid(%q) = true, want false", name, invalid)
		}
	}
}

func TestIDsSortInOrderIfTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(-5, 5), 1, 50).Draw(t, "steps")
		now := noon
		g := id.NewGenerator(func() time.Time { return now }, rand.Reader)
		last := ""
		for _, step := range steps {
			now = now.Add(time.Duration(step) * time.Millisecond)
			newID := g.New(id.Event)
			if newID <= last {
				t.Fatalf("got ID %q after %q, want a greater ID", newID, last)
			}
			last = newID
		}
	})
}

func TestLastIDOfMillisecondIsFollowedByNextMillisecond(t *testing.T) {
	t.Parallel()
	highest := strings.NewReader(strings.Repeat("\xff", 10))
	g := id.NewGenerator(fixed, io.MultiReader(highest, rand.Reader))
	first, second := g.New(id.Event), g.New(id.Event)
	if second <= first || !id.Event.Valid(second) {
		t.Errorf("got ID %q after %q, want a greater valid ID", second, first)
	}
}

func TestConcurrentIDsAreUnique(t *testing.T) {
	t.Parallel()
	g := id.NewGenerator(fixed, rand.Reader)
	ids := make([][]string, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			for range 500 {
				ids[i] = append(ids[i], g.New(id.User))
			}
		})
	}
	wg.Wait()
	all := slices.Concat(ids...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 8*500 {
		t.Errorf("got %d different IDs, want %d", n, 8*500)
	}
}

// Next reports false for the last ID of a millisecond and for texts that are not IDs of the kind.
func TestNext(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK":       "msg_01K9ZQ3V7M8T5XW2ABCDEFGHJM", // the alphabet has no L
		"msg_01K9ZQ3V7M8T5XW2ABCDEFGHZZ":       "msg_01K9ZQ3V7M8T5XW2ABCDEFGJ00",
		"msg_01K9ZQ3V7MZZZZZZZZZZZZZZZZ":       "", // the last ID of the millisecond
		"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK":       "",
		"msg_01k9zq3v7m8t5xw2abcdefghjk":       "",
		"":                                     "",
		"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK#0\x00": "",
	} {
		got, ok := id.Message.Next(from)
		if got != want || ok != (want != "") {
			t.Errorf("Next(%q) = %q, %v, want %q", from, got, ok, want)
		}
		if ok && (got <= from || !id.Message.Valid(got)) {
			t.Errorf("Next(%q) = %q, want a greater valid ID", from, got)
		}
	}
}

func TestNewPanicsWithoutRandomBytes(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("New did not panic although it could not read random bytes")
		}
	}()
	id.NewGenerator(fixed, io.MultiReader()).New(id.User)
}

// FuzzValid checks that a valid ID has 30 characters and no characters that separate the parts of keys.
func FuzzValid(f *testing.F) {
	f.Add("usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK")
	f.Add("usr_#")
	f.Fuzz(func(t *testing.T, s string) {
		if !id.User.Valid(s) {
			return
		}
		if len(s) != 30 || strings.ContainsAny(s, "#\x00/") || s != "usr_"+strings.ToUpper(s[4:]) {
			t.Errorf("Valid(%q) = true, want false", s)
		}
	})
}

// The new ID sorts after the other one, even if the clock of the other ID's generator was ahead. Later IDs use the
// clock of their own generator.
func TestNewAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 5, 5, 10, 0, 0, 0, time.UTC)
	g := id.NewGenerator(func() time.Time { return now }, rand.Reader)
	for _, offset := range []time.Duration{-time.Hour, 0, time.Second, 40 * 24 * time.Hour} {
		otherGenerator := id.NewGenerator(func() time.Time { return now.Add(offset) }, rand.Reader)
		for range 100 {
			other := otherGenerator.New(id.Message)
			first, second := g.NewAfter(id.Message, other), g.NewAfter(id.Message, other)
			if !id.Message.Valid(first) || first <= other || second <= other || first == second {
				t.Fatalf("offset %v: got IDs %s and %s, want two different ones after %s", offset, first, second, other)
			}
			if at, _ := id.Message.Time(g.New(id.Message)); at.Sub(now) > time.Second {
				t.Fatalf("offset %v: a later ID has the time %v, want %v, the time of its generator", offset, at, now)
			}
		}
	}
	for _, other := range []string{"", "msg_", g.New(id.Event)} {
		if newID := g.NewAfter(id.Message, other); !id.Message.Valid(newID) {
			t.Errorf("NewAfter(%q) = %q, want a valid ID", other, newID)
		}
	}
}
