package id_test

import (
	"crypto/rand"
	"errors"
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
		id.Webhook, id.Event, id.Delivery, id.Comment, id.Session,
	}
	g := id.NewGenerator(fixed, rand.Reader)
	for _, kind := range kinds {
		made := g.New(kind)
		for _, other := range kinds {
			if other.Valid(made) != (other == kind) {
				t.Errorf("%q is of kind %q: %v", made, other, other.Valid(made))
			}
		}
	}
}

func TestOnlyTheCanonicalFormIsValid(t *testing.T) {
	t.Parallel()
	good := "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	if !id.User.Valid(good) {
		t.Fatalf("%q is not valid", good)
	}
	for name, bad := range map[string]string{
		"empty":            "",
		"prefix alone":     "usr_",
		"no prefix":        strings.TrimPrefix(good, "usr_"),
		"lower case":       strings.ToLower(good),
		"too short":        good[:len(good)-1],
		"too long":         good + "0",
		"space":            " " + good,
		"line break":       good + "\n",
		"a letter U":       "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJU",
		"a letter I for 1": "usr_0IK9ZQ3V7M8T5XW2ABCDEFGHJK",
		"more than 128":    "usr_81K9ZQ3V7M8T5XW2ABCDEFGHJK",
		"separator":        "usr_01K9ZQ3V7M8T5XW2ABCDEFGH#K",
	} {
		if id.User.Valid(bad) {
			t.Errorf("%s: %q is valid", name, bad)
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
			made := g.New(id.Event)
			if made <= last {
				t.Fatalf("%q after %q", made, last)
			}
			last = made
		}
	})
}

func TestFullMillisecondContinuesInTheNext(t *testing.T) {
	t.Parallel()
	highest := strings.NewReader(strings.Repeat("\xff", 10))
	g := id.NewGenerator(fixed, io.MultiReader(highest, rand.Reader))
	first, second := g.New(id.Event), g.New(id.Event)
	if second <= first || !id.Event.Valid(second) {
		t.Errorf("%q after %q", second, first)
	}
}

func TestConcurrentIDsAreUnique(t *testing.T) {
	t.Parallel()
	g := id.NewGenerator(fixed, rand.Reader)
	made := make([][]string, 8)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			for range 500 {
				made[i] = append(made[i], g.New(id.User))
			}
		})
	}
	wg.Wait()
	all := slices.Concat(made...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 8*500 {
		t.Errorf("%d different ids of %d", n, 8*500)
	}
}

// No ID of the kind sorts between an ID and the next one.
func TestNext(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK":       "msg_01K9ZQ3V7M8T5XW2ABCDEFGHJM", // there is no L
		"msg_01K9ZQ3V7M8T5XW2ABCDEFGHZZ":       "msg_01K9ZQ3V7M8T5XW2ABCDEFGJ00",
		"msg_01K9ZQ3V7MZZZZZZZZZZZZZZZZ":       "", // the millisecond ends
		"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK":       "",
		"msg_01k9zq3v7m8t5xw2abcdefghjk":       "",
		"":                                     "",
		"msg_01K9ZQ3V7M8T5XW2ABCDEFGHJK#0\x00": "",
	} {
		got, ok := id.Message.Next(from)
		if got != want || ok != (want != "") {
			t.Errorf("behind %q: %q, %v", from, got, ok)
		}
		if ok && (got <= from || !id.Message.Valid(got)) {
			t.Errorf("behind %q: %q", from, got)
		}
	}
}

func TestNewPanicsWithoutRandomness(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an id without randomness")
		}
	}()
	id.NewGenerator(fixed, io.MultiReader()).New(id.User)
}

func FuzzValid(f *testing.F) {
	f.Add("usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK")
	f.Add("usr_#")
	f.Fuzz(func(t *testing.T, s string) {
		if id.User.Valid(s) && (len(s) != 30 || strings.ContainsAny(s, "#\x00/") || s != "usr_"+strings.ToUpper(s[4:])) {
			t.Error(errors.New(s))
		}
	})
}

// The new ID sorts behind the other one, however far ahead the other one's clock was. Later IDs use the generator's
// own clock.
func TestNewAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 5, 5, 10, 0, 0, 0, time.UTC)
	here := id.NewGenerator(func() time.Time { return now }, rand.Reader)
	for _, by := range []time.Duration{-time.Hour, 0, time.Second, 40 * 24 * time.Hour} {
		ahead := id.NewGenerator(func() time.Time { return now.Add(by) }, rand.Reader)
		for range 100 {
			other := ahead.New(id.Message)
			made, again := here.NewAfter(id.Message, other), here.NewAfter(id.Message, other)
			if !id.Message.Valid(made) || made <= other || again <= other || made == again {
				t.Fatalf("%v: %s and %s after %s", by, made, again, other)
			}
			if at, _ := id.Message.Time(here.New(id.Message)); at.Sub(now) > time.Second {
				t.Fatalf("%v: the next id is of %v", by, at)
			}
		}
	}
	for _, nothing := range []string{"", "msg_", here.New(id.Event)} {
		if made := here.NewAfter(id.Message, nothing); !id.Message.Valid(made) {
			t.Errorf("after %q: %s", nothing, made)
		}
	}
}
