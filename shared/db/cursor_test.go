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

// fakeSecret is the secret with a key ring that tests change. An empty ring makes fetch fail.
type fakeSecret struct {
	ring    atomic.Value
	fetches atomic.Int64
}

func newCursors(ring string) (*db.Cursors, *fakeSecret, *fakeClock) {
	secret, clk := &fakeSecret{}, newFakeClock()
	secret.ring.Store(ring)
	return db.NewCursors(config.NewKeys(secret.fetch, clk.now)), secret, clk
}

func (s *fakeSecret) fetch(context.Context) (string, error) {
	s.fetches.Add(1)
	if ring, ok := s.ring.Load().(string); ok && ring != "" {
		return ring, nil
	}
	return "", errors.New("the secret is unavailable")
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
			rt.Fatalf("the cursor %q needs escaping in a URL", cursor)
		}
		if got, err := c.Open(t.Context(), scope, cursor); err != nil || got != position {
			rt.Fatalf("got position %q, %v, want %q", got, err, position)
		}
		if _, err := c.Open(t.Context(), other, cursor); other != scope && !errors.Is(err, db.ErrCursor) {
			rt.Fatalf("got error %v for a cursor of list %q used for list %q, want ErrCursor", err, scope, other)
		}
	})
}

// Moving the end of the scope to the beginning of the position makes a cursor invalid.
func TestScopeAndPositionAreSeparate(t *testing.T) {
	t.Parallel()
	c, _, _ := newCursors(oldRing)
	raw, err := base64.RawURLEncoding.DecodeString(seal(t, c, "files prj", "/a"))
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(raw), "/a", "prj/a", 1)
	cursor := base64.RawURLEncoding.EncodeToString([]byte(forged))
	if _, err := c.Open(t.Context(), "files ", cursor); !errors.Is(err, db.ErrCursor) {
		t.Errorf("got error %v for a forged cursor, want ErrCursor", err)
	}
}

func TestInvalidCursors(t *testing.T) {
	t.Parallel()
	c, _, _ := newCursors(oldRing)
	// good encodes 43 bytes, so four bits of its last character are unused. A change of these bits is also an error.
	good := seal(t, c, "list", "position")
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	if position, err := c.Open(t.Context(), "list", ""); position != "" || err != nil {
		t.Errorf("got position %q, %v for the empty cursor, want the first page", position, err)
	}
	for name, cursor := range map[string]string{
		"padding":                  good + "=",
		"line break in the middle": good[:8] + "\n" + good[8:],
		"line break at the end":    good + "\r\n",
		"space at the end":         good + " ",
		"additional bytes":         good + "AAAA",
		"standard base64":          base64.RawStdEncoding.EncodeToString(append([]byte{255}, raw...)),
		"not base64":               "{}",
		"1 MB too long":            good + strings.Repeat("A", 1<<20),
		"incomplete key ID":        base64.RawURLEncoding.EncodeToString([]byte{255, 'k'}),
		"key ID only":              base64.RawURLEncoding.EncodeToString(raw[:3]),
	} {
		if _, err := c.Open(t.Context(), "list", cursor); !errors.Is(err, db.ErrCursor) {
			t.Errorf("%s: got error %v, want ErrCursor", name, err)
		}
	}
	for n := 1; n < len(good); n++ {
		if _, err := c.Open(t.Context(), "list", good[:n]); !errors.Is(err, db.ErrCursor) {
			t.Errorf("cut to %d characters: got error %v, want ErrCursor", n, err)
		}
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range len(good) {
		for _, r := range alphabet {
			changed := good[:i] + string(r) + good[i+1:]
			if _, err := c.Open(t.Context(), "list", changed); changed != good && !errors.Is(err, db.ErrCursor) {
				t.Fatalf("with %c at index %d: got error %v, want ErrCursor", r, i, err)
			}
		}
	}
}

func TestLongestPosition(t *testing.T) {
	t.Parallel()
	longestKeyID := strings.Repeat("k", 64)
	c, _, _ := newCursors(`{"current":"` + longestKeyID + `","` + longestKeyID + `":"` + ringKey1 + `"}`)
	longest := strings.Repeat("x", 1024)
	if got, err := c.Open(t.Context(), "list", seal(t, c, "list", longest)); err != nil || got != longest {
		t.Errorf("got a position of %d bytes, %v, want the sealed one of 1024 bytes", len(got), err)
	}
	if _, err := c.Seal(t.Context(), "list", longest+"x"); err == nil {
		t.Error("Seal accepted a position that is longer than a sort key")
	}
}

func TestCursorsRemainValidAfterKeyRotation(t *testing.T) {
	t.Parallel()
	before, secret, clk := newCursors(oldRing)
	oldCursor := seal(t, before, "list", "a")
	after, _, _ := newCursors(newRing)
	newCursor := seal(t, after, "list", "b")
	if got, err := after.Open(t.Context(), "list", oldCursor); err != nil || got != "a" {
		t.Errorf("got position %q, %v for a cursor from before the rotation, want a", got, err)
	}
	secret.ring.Store(newRing)
	clk.advance(2 * time.Minute)
	if got, err := before.Open(t.Context(), "list", newCursor); err != nil || got != "b" {
		t.Errorf("got position %q, %v for a cursor with a key that is not in the cache, want b", got, err)
	}
	for name, ring := range map[string]string{
		"removed":                    `{"current":"k2","k2":"` + ringKey2 + `"}`,
		"replaced under the same ID": `{"current":"k1","k1":"` + ringKey2 + `"}`,
	} {
		c, _, _ := newCursors(ring)
		if _, err := c.Open(t.Context(), "list", oldCursor); !errors.Is(err, db.ErrCursor) {
			t.Errorf("got error %v for a cursor with a key that was %s, want ErrCursor", err, name)
		}
	}
}

// A forged key ID causes no fetch of the keys. Without keys, the error is not ErrCursor.
func TestCursorsWithoutKeys(t *testing.T) {
	t.Parallel()
	c, secret, clk := newCursors(oldRing)
	cursor := seal(t, c, "list", "a")
	clk.advance(10 * time.Second)
	forged := base64.RawURLEncoding.EncodeToString(append([]byte{2, 0, 0}, make([]byte, 40)...))
	if _, err := c.Open(t.Context(), "list", forged); !errors.Is(err, db.ErrCursor) || secret.fetches.Load() != 1 {
		t.Errorf("got error %v after %d fetches, want ErrCursor after 1", err, secret.fetches.Load())
	}
	withoutKeys, _, _ := newCursors("")
	_, sealErr := withoutKeys.Seal(t.Context(), "list", "a")
	_, openErr := withoutKeys.Open(t.Context(), "list", cursor)
	for _, err := range []error{sealErr, openErr} {
		if !errors.Is(err, config.ErrUnavailable) || errors.Is(err, db.ErrCursor) {
			t.Errorf("got error %v, want config.ErrUnavailable only", err)
		}
	}
}

// FuzzCursor checks that Open accepts only cursors that Seal returned.
func FuzzCursor(f *testing.F) {
	c, _, _ := newCursors(oldRing)
	f.Add("list", seal(f, c, "list", "/src/app.ts"))
	f.Add("list", "")
	f.Add("", "AA")
	f.Fuzz(func(t *testing.T, scope, cursor string) {
		position, err := c.Open(t.Context(), scope, cursor)
		switch {
		case err == nil && cursor != "" && seal(t, c, scope, position) != cursor:
			t.Errorf("the cursor %q is not the one that Seal returns for position %q", cursor, position)
		case err != nil && !errors.Is(err, db.ErrCursor):
			t.Errorf("got error %v for the cursor %q, want ErrCursor", err, cursor)
		}
	})
}
