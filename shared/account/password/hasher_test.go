package password

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/argon2"
)

// cheapHashParams returns the cheapest parameters that Argon2id allows. They make tests fast.
func cheapHashParams() HashParams {
	return HashParams{MemoryKiB: 8, Time: 1, Threads: 1, SaltBytes: 16, KeyBytes: 32}
}

// countHashes adds the number of hashes that h computes to n.
func countHashes(h *Hasher, n *atomic.Int64) {
	next := h.Argon2
	h.Argon2 = func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte {
		n.Add(1)
		return next(password, salt, time, memory, threads, keyLen)
	}
}

func TestProductionHashParameters(t *testing.T) {
	t.Parallel()
	stored, err := NewHasher(DefaultHashParams(), 1).Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "$argon2id$v=19$m=19456,t=2,p=1$"
	if !strings.HasPrefix(stored, prefix) {
		t.Fatalf("got the hash %q, want the prefix %q", stored, prefix)
	}
	params, salt, key, err := parseHash(stored)
	if err != nil || params != DefaultHashParams() {
		t.Fatalf("parseHash(%q) = %+v, %v; want the default parameters", stored, params, err)
	}
	if len(salt) != 16 || len(key) != 32 {
		t.Errorf("got a salt of %d bytes and a key of %d bytes, want 16 and 32", len(salt), len(key))
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	h := NewHasher(cheapHashParams(), 2)
	var hashes atomic.Int64
	countHashes(h, &hashes)
	stored, err := h.Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	oldParams := cheapHashParams()
	oldParams.Time = 2
	salt := []byte("0123456789abcdef")
	outdated := formatHash(oldParams, salt, argon2.IDKey([]byte("correct horse"), salt, 2, 8, 1, 32))
	cases := []struct {
		name, stored, password string
		want                   Verdict
	}{
		{"correct password", stored, "correct horse", Verdict{OK: true}},
		{"wrong password", stored, "Correct horse", Verdict{}},
		{"empty password", stored, "", Verdict{}},
		{"no account", "", "correct horse", Verdict{}},
		{"no account, empty password", "", "", Verdict{}},
		{"outdated parameters", outdated, "correct horse", Verdict{OK: true, Outdated: true}},
	}
	for _, c := range cases {
		before := hashes.Load()
		got, err := h.Verify(t.Context(), c.stored, c.password)
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v; want %+v", c.name, got, err, c.want)
		}
		if n := hashes.Load() - before; n != 1 {
			t.Errorf("%s: Verify computed %d hashes, want 1", c.name, n)
		}
	}
}

// The hash is a test vector of the Argon2 reference implementation (src/test.c: "password", "somesalt", t=2, m=2^16,
// p=1).
func TestVerifyKnownHash(t *testing.T) {
	t.Parallel()
	const stored = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	got, err := NewHasher(DefaultHashParams(), 1).Verify(t.Context(), stored, "password")
	if want := (Verdict{OK: true, Outdated: true}); err != nil || got != want {
		t.Fatalf("Verify = %+v, %v; want %+v", got, err, want)
	}
}

func TestParseHashRejects(t *testing.T) {
	t.Parallel()
	const salt, key = "MDEyMzQ1Njc4OWFiY2RlZg", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
	invalid := []string{
		"", "plain", "$2a$10$abc",
		"$argon2i$v=19$m=8,t=1,p=1$" + salt + "$" + key,
		"$argon2id$v=16$m=8,t=1,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=8,t=1$" + salt + "$" + key,
		"$argon2id$v=19$m=08,t=1,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=8,t=1,p=1,x=2$" + salt + "$" + key,
		"$argon2id$v=19$m=8,t=0,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=9999999,t=1,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=8,t=1,p=1$" + salt + "=$" + key,
		"$argon2id$v=19$m=8,t=1,p=1$$" + key,
		"$argon2id$v=19$m=8,t=1,p=1$" + salt + "$",
		"$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key + "$",
	}
	for _, s := range invalid {
		if _, _, _, err := parseHash(s); !errors.Is(err, errHashFormat) {
			t.Errorf("parseHash(%q): got the error %v, want %v", s, err, errHashFormat)
		}
	}
	if _, _, _, err := parseHash("$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key); err != nil {
		t.Errorf("parseHash of a valid hash: %v", err)
	}
}

// FuzzParseHash checks that formatHash returns the original text of every hash that parseHash accepts.
func FuzzParseHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY")
	f.Fuzz(func(t *testing.T, s string) {
		p, salt, key, err := parseHash(s)
		if err == nil && (!p.areAllowed() || formatHash(p, salt, key) != s) {
			t.Fatalf("parseHash(%q) = %+v, want %v", s, p, errHashFormat)
		}
	})
}

// A Hasher waits for a free slot before it computes a hash. The wait can be cancelled.
func TestHasherWaitsForASlot(t *testing.T) {
	t.Parallel()
	h := NewHasher(cheapHashParams(), 1)
	var hashes atomic.Int64
	countHashes(h, &hashes)
	h.slots <- struct{}{} // occupies the only slot
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Hash(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Fatalf("Hash without a free slot: got the error %v, want %v", err, context.Canceled)
	}
	if hashes.Load() != 0 {
		t.Fatal("Hash computed a hash without a free slot")
	}
	<-h.slots
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := h.Hash(t.Context(), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(h.slots) != 0 || hashes.Load() != 8 {
		t.Fatalf("got %d occupied slots after %d hashes, want 0 after 8", len(h.slots), hashes.Load())
	}
}
