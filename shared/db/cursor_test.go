package db_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/shared/config"
	"devplatform/shared/db"
)

const (
	ringKey1 = "0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ"
	ringKey2 = "ZYXWVUTSRQPONMLKJIHGFEDCBA9876543210zyxwvutsrqponmlkjihgfedcba"
	oldRing  = `{"current":"k1","k1":"` + ringKey1 + `"}`
	newRing  = `{"current":"k2","k1":"` + ringKey1 + `","k2":"` + ringKey2 + `"}`
)

// vault is a key ring that tests change.
type vault struct {
	ring  atomic.Value
	calls atomic.Int64
}

func newCursors(ring string) (*db.Cursors, *vault, *hands) {
	v, h := &vault{}, &hands{}
	v.ring.Store(ring)
	h.at.Store(1_763_640_000)
	return db.NewCursors(config.NewKeys(v.fetch, h.now)), v, h
}

func (v *vault) fetch(context.Context) (string, error) {
	v.calls.Add(1)
	if ring, ok := v.ring.Load().(string); ok && ring != "" {
		return ring, nil
	}
	return "", errors.New("no vault")
}

func seal(t testing.TB, c *db.Cursors, scope, position string) string {
	t.Helper()
	cursor, err := c.Seal(t.Context(), scope, position)
	if err != nil {
		t.Fatal(err)
	}
	return cursor
}

func TestCursorsAreBoundToTheirList(t *testing.T) {
	t.Parallel()
	c, _, _ := newCursors(oldRing)
	text := rapid.StringN(0, 40, 200)
	rapid.Check(t, func(rt *rapid.T) {
		scope, other, position := text.Draw(rt, "scope"), text.Draw(rt, "other"), text.Draw(rt, "position")
		cursor := seal(t, c, scope, position)
		if strings.Trim(cursor, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			rt.Fatalf("%q needs escaping", cursor)
		}
		if got, err := c.Open(t.Context(), scope, cursor); err != nil || got != position {
			rt.Fatalf("%q came back as %q, %v", position, got, err)
		}
		if _, err := c.Open(t.Context(), other, cursor); other != scope && !errors.Is(err, db.ErrCursor) {
			rt.Fatalf("a cursor of %q opened %q: %v", scope, other, err)
		}
	})
}

// What is cut off the end of the scope must not do at the beginning of the position.
func TestScopeAndPositionCannotBeMixed(t *testing.T) {
	t.Parallel()
	c, _, _ := newCursors(oldRing)
	raw, err := base64.RawURLEncoding.DecodeString(seal(t, c, "files prj", "/a"))
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(string(raw), "/a", "prj/a", 1)
	if _, err := c.Open(t.Context(), "files ", base64.RawURLEncoding.EncodeToString([]byte(moved))); !errors.Is(err, db.ErrCursor) {
		t.Errorf("opened: %v", err)
	}
}

func TestInvalidCursors(t *testing.T) {
	t.Parallel()
	c, _, _ := newCursors(oldRing)
	good := seal(t, c, "list", "position") // 43 bytes: the last character has four bits that say nothing
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := c.Open(t.Context(), "list", ""); at != "" || err != nil {
		t.Errorf("no cursor is not the beginning: %q, %v", at, err)
	}
	for name, cursor := range map[string]string{
		"padding":            good + "=",
		"a line break":       good[:8] + "\n" + good[8:],
		"a line break after": good + "\r\n",
		"a blank":            good + " ",
		"more":               good + "AAAA",
		"another alphabet":   base64.RawStdEncoding.EncodeToString(append([]byte{255}, raw...)),
		"no base64":          "{}",
		"far too long":       good + strings.Repeat("A", 1<<20),
		"a kid without end":  base64.RawURLEncoding.EncodeToString([]byte{255, 'k'}),
		"only a kid":         base64.RawURLEncoding.EncodeToString(raw[:3]),
	} {
		if _, err := c.Open(t.Context(), "list", cursor); !errors.Is(err, db.ErrCursor) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := 1; n < len(good); n++ {
		if _, err := c.Open(t.Context(), "list", good[:n]); !errors.Is(err, db.ErrCursor) {
			t.Errorf("cut to %d: %v", n, err)
		}
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range len(good) {
		for _, r := range alphabet {
			changed := good[:i] + string(r) + good[i+1:]
			if _, err := c.Open(t.Context(), "list", changed); changed != good && !errors.Is(err, db.ErrCursor) {
				t.Fatalf("%c at %d: %v", r, i, err)
			}
		}
	}
}

func TestLongestPosition(t *testing.T) {
	t.Parallel()
	c, _, _ := newCursors(`{"current":"` + strings.Repeat("k", 64) + `","` + strings.Repeat("k", 64) + `":"` + ringKey1 + `"}`)
	longest := strings.Repeat("x", 1024)
	if got, err := c.Open(t.Context(), "list", seal(t, c, "list", longest)); err != nil || got != longest {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := c.Seal(t.Context(), "list", longest+"x"); err == nil {
		t.Error("a position that no key has was sealed")
	}
}

func TestCursorsRemainValidAfterKeyRotation(t *testing.T) {
	t.Parallel()
	c, v, h := newCursors(oldRing)
	old := seal(t, c, "list", "a")
	after, _, _ := newCursors(newRing)
	fresh := seal(t, after, "list", "b")
	if got, err := after.Open(t.Context(), "list", old); err != nil || got != "a" {
		t.Errorf("before the rotation: %q, %v", got, err)
	}
	v.ring.Store(newRing)
	h.advance(2 * time.Minute)
	if got, err := c.Open(t.Context(), "list", fresh); err != nil || got != "b" {
		t.Errorf("a key that was not known yet: %q, %v", got, err)
	}
	gone, _, _ := newCursors(`{"current":"k2","k2":"` + ringKey2 + `"}`)
	if _, err := gone.Open(t.Context(), "list", old); !errors.Is(err, db.ErrCursor) {
		t.Errorf("a key that is gone: %v", err)
	}
	stolen, _, _ := newCursors(`{"current":"k1","k1":"` + ringKey2 + `"}`)
	if _, err := stolen.Open(t.Context(), "list", old); !errors.Is(err, db.ErrCursor) {
		t.Errorf("another key of that name: %v", err)
	}
}

func TestInvalidKeyIDsCauseNoFetch(t *testing.T) {
	t.Parallel()
	c, v, h := newCursors(oldRing)
	seal(t, c, "list", "a")
	h.advance(time.Hour)
	forged := base64.RawURLEncoding.EncodeToString(append([]byte{2, 0, 0}, make([]byte, 40)...))
	if _, err := c.Open(t.Context(), "list", forged); !errors.Is(err, db.ErrCursor) || v.calls.Load() != 1 {
		t.Errorf("%v after %d fetches", err, v.calls.Load())
	}
}

func TestCursorsWithoutKeys(t *testing.T) {
	t.Parallel()
	good, _, _ := newCursors(oldRing)
	cursor := seal(t, good, "list", "a")
	c, _, _ := newCursors("")
	_, sealed := c.Seal(t.Context(), "list", "a")
	_, opened := c.Open(t.Context(), "list", cursor)
	for _, err := range []error{sealed, opened} {
		if !errors.Is(err, config.ErrUnavailable) || errors.Is(err, db.ErrCursor) {
			t.Errorf("%v", err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	c, _, _ := newCursors(oldRing)
	f.Add("list", seal(f, c, "list", "/src/app.ts"))
	f.Add("list", "")
	f.Add("", "AA")
	f.Fuzz(func(t *testing.T, scope, cursor string) {
		position, err := c.Open(t.Context(), scope, cursor)
		switch {
		case err == nil && cursor != "" && seal(t, c, scope, position) != cursor:
			t.Errorf("%q is a second spelling of the cursor at %q", cursor, position)
		case err != nil && !errors.Is(err, db.ErrCursor):
			t.Error(err)
		}
	})
}
