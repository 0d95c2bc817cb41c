package account

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/argon2"
)

// quickHash returns the cheapest parameters that Argon2id allows, for tests that do not test its cost.
func quickHash() HashParams {
	return HashParams{MemoryKiB: 8, Time: 1, Threads: 1, SaltBytes: 16, KeyBytes: 32}
}

func TestProductionHashParameters(t *testing.T) {
	t.Parallel()
	h := NewHasher(DefaultHashParams(), 1)
	phc, err := h.Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(phc, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("hash %q", phc)
	}
	p, salt, key, err := parseHash(phc)
	if err != nil || p != DefaultHashParams() || len(salt) != 16 || len(key) != 32 {
		t.Fatalf("parseHash: %+v %d %d %v", p, len(salt), len(key), err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	h := NewHasher(quickHash(), 2)
	var hashes atomic.Int64
	countHashes(h, &hashes)
	stored, err := h.Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	other := quickHash()
	other.Time = 2
	outdated := formatHash(other, []byte("0123456789abcdef"), argon2.IDKey([]byte("correct horse"), []byte("0123456789abcdef"), 2, 8, 1, 32))
	cases := []struct {
		name, stored, password string
		want                   Verdict
	}{
		{"right", stored, "correct horse", Verdict{OK: true}},
		{"wrong", stored, "Correct horse", Verdict{}},
		{"empty password", stored, "", Verdict{}},
		{"no account", "", "correct horse", Verdict{}},
		{"no account, empty password", "", "", Verdict{}},
		{"older parameters", outdated, "correct horse", Verdict{OK: true, Outdated: true}},
	}
	for _, c := range cases {
		before := hashes.Load()
		got, err := h.Verify(t.Context(), c.stored, c.password)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
		if hashes.Load() != before+1 {
			t.Errorf("%s: %d hashes, want 1", c.name, hashes.Load()-before)
		}
	}
}

// The vector of the Argon2 reference implementation's command line (kats/test.c: "password", "somesalt", t=2, m=2^16,
// p=1).
func TestVerifyKnownAnswer(t *testing.T) {
	t.Parallel()
	const stored = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	v, err := NewHasher(DefaultHashParams(), 1).Verify(t.Context(), stored, "password")
	if err != nil || v != (Verdict{OK: true, Outdated: true}) {
		t.Fatalf("%+v, %v", v, err)
	}
}

func TestParseHashRejects(t *testing.T) {
	t.Parallel()
	const salt, key = "MDEyMzQ1Njc4OWFiY2RlZg", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
	bad := []string{
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
	for _, s := range bad {
		if _, _, _, err := parseHash(s); !errors.Is(err, errHashFormat) {
			t.Errorf("parseHash(%q) = %v", s, err)
		}
	}
	if _, _, _, err := parseHash("$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key); err != nil {
		t.Errorf("a valid hash: %v", err)
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY")
	f.Fuzz(func(t *testing.T, s string) {
		p, salt, key, err := parseHash(s)
		if err == nil && (!p.areAllowed() || formatHash(p, salt, key) != s) {
			t.Fatalf("parseHash(%q) = %+v", s, p)
		}
	})
}

// A Hasher never computes more hashes at once than it has slots. Waiting for a slot can be cancelled.
func TestHasherIsBounded(t *testing.T) {
	t.Parallel()
	h := NewHasher(quickHash(), 1)
	var hashes atomic.Int64
	countHashes(h, &hashes)
	h.slots <- struct{}{} // taken
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Hash(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Fatalf("Hash with every slot taken: %v", err)
	}
	if hashes.Load() != 0 {
		t.Fatal("it hashed without a slot")
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
		t.Fatalf("%d slots taken after %d hashes", len(h.slots), hashes.Load())
	}
}
