package config_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/config"
)

const (
	key1 = "0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ"
	key2 = "ZYXWVUTSRQPONMLKJIHGFEDCBA9876543210zyxwvutsrqponmlkjihgfedcba"
)

// fakeSecret is a secret that tests change. Its fetch counts the calls.
type fakeSecret struct {
	mu    sync.Mutex
	text  string
	err   error
	calls int
	gate  chan struct{} // if set, fetch waits until it is closed
}

func (s *fakeSecret) fetch(ctx context.Context) (string, error) {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.text, s.err
}

func (s *fakeSecret) set(text string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.err = text, err
}

func (s *fakeSecret) fetches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// fakeClock is a clock that tests set.
type fakeClock struct{ nanoseconds atomic.Int64 }

func (clk *fakeClock) now() time.Time          { return time.Unix(0, clk.nanoseconds.Load()) }
func (clk *fakeClock) advance(d time.Duration) { clk.nanoseconds.Add(int64(d)) }

func newRing(text string) (*config.Keys, *fakeSecret, *fakeClock) {
	secret, clk := &fakeSecret{text: text}, &fakeClock{}
	return config.NewKeys(secret.fetch, clk.now), secret, clk
}

func TestKeysAreDerivedWithHKDF(t *testing.T) {
	t.Parallel()
	keys, _, _ := newRing(`{"current":"k1","k1":"` + key1 + `","older":"` + key2 + `"}`)
	kid, key, err := keys.Current(t.Context(), "session")
	if err != nil || kid != "k1" {
		t.Fatalf("got key ID %q, %v, want k1", kid, err)
	}
	// Computed independently: HKDF-SHA256 without salt, info "devplatform/session", 32 bytes.
	// A change of this value ends every session.
	const want = "d2bd23924d587af7e0b00a54c889d11b275cbfe2dd4850e9ace47bea957ee8e9"
	if got := hex.EncodeToString(key); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	again, err := keys.KeyToVerify(t.Context(), "k1", "session")
	if err != nil || string(again) != string(key) {
		t.Errorf("KeyToVerify: got %x, %v, want the same key as Current", again, err)
	}
	other, err := keys.KeyToVerify(t.Context(), "k1", "cursor")
	if err != nil || string(other) == string(key) {
		t.Errorf("another purpose: got key %x, %v, want a different key", other, err)
	}
	if older, err := keys.KeyToVerify(t.Context(), "older", "session"); err != nil || string(older) == string(key) {
		t.Errorf("an older key: got key %x, %v, want a different key", older, err)
	}
}

func TestUnknownKeyCausesAtMostOneFetchPerMinute(t *testing.T) {
	t.Parallel()
	keys, secret, clk := newRing(`{"current":"k1","k1":"` + key1 + `"}`)
	if _, _, err := keys.Current(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	secret.set(`{"current":"k2","k1":"`+key1+`","k2":"`+key2+`"}`, nil)
	clk.advance(50 * time.Second)
	for range 10 {
		clk.advance(time.Second - time.Millisecond)
		if _, err := keys.KeyToVerify(t.Context(), "k2", "x"); !errors.Is(err, config.ErrUnknownKey) {
			t.Fatalf("within the minute: got error %v, want ErrUnknownKey", err)
		}
	}
	if n := secret.fetches(); n != 1 {
		t.Fatalf("got %d fetches within the minute, want 1", n)
	}
	clk.advance(10 * time.Millisecond)
	if _, err := keys.KeyToVerify(t.Context(), "k2", "x"); err != nil {
		t.Fatalf("after a minute: got error %v, want none", err)
	}
	for range 10 {
		if _, err := keys.KeyToVerify(t.Context(), "k3", "x"); !errors.Is(err, config.ErrUnknownKey) {
			t.Fatalf("got error %v, want ErrUnknownKey", err)
		}
	}
	if n := secret.fetches(); n != 2 {
		t.Errorf("got %d fetches, want 2", n)
	}
}

// If the clock is set back, an unknown key and a failed fetch still cause a new fetch.
func TestRingIsFetchedAfterTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	keys, secret, clk := newRing(`{"current":"k1","k1":"` + key1 + `"}`)
	secret.set("", errors.New("down"))
	if _, _, err := keys.Current(t.Context(), "x"); !errors.Is(err, config.ErrUnavailable) {
		t.Fatalf("got error %v, want ErrUnavailable", err)
	}
	clk.advance(-time.Hour)
	secret.set(`{"current":"k1","k1":"`+key1+`"}`, nil)
	if _, _, err := keys.Current(t.Context(), "x"); err != nil {
		t.Errorf("got error %v after a failed fetch and a clock that was set back, want none", err)
	}
	clk.advance(-24 * time.Hour)
	secret.set(`{"current":"k2","k1":"`+key1+`","k2":"`+key2+`"}`, nil)
	if _, err := keys.KeyToVerify(t.Context(), "k2", "x"); err != nil {
		t.Errorf("got error %v for a new key after the clock was set back, want none", err)
	}
}

// Neither an invalid ID nor the ID of a key that can only decrypt makes a request read the ring again.
func TestInvalidKeyIDsCauseNoFetch(t *testing.T) {
	t.Parallel()
	keys, secret, clk := newRing(`{"current":"k1","k1":"` + key1 + `","k2":"` + key2 + `","decryptOnly":["k2"]}`)
	for _, kid := range []string{"", "../../etc", "k1\x00", strings.Repeat("k", 65), "current#", "k2"} {
		clk.advance(30 * time.Second)
		if _, err := keys.KeyToVerify(t.Context(), kid, "x"); !errors.Is(err, config.ErrUnknownKey) {
			t.Errorf("key ID %q: got error %v, want ErrUnknownKey", kid, err)
		}
	}
	if _, err := keys.KeyToVerify(t.Context(), "k1", "x"); err != nil || secret.fetches() != 1 {
		t.Errorf("got error %v and %d fetches, want no error and 1 fetch", err, secret.fetches())
	}
}

func TestConcurrentCallersShareOneFetch(t *testing.T) {
	t.Parallel()
	keys, secret, _ := newRing(`{"current":"k1","k1":"` + key1 + `"}`)
	secret.gate = make(chan struct{})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := keys.Current(canceled, "x"); !errors.Is(err, config.ErrUnavailable) {
		t.Errorf("context canceled: got error %v, want ErrUnavailable", err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, _, err := keys.Current(t.Context(), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	close(secret.gate)
	wg.Wait()
	if n := secret.fetches(); n != 1 {
		t.Errorf("got %d fetches, want 1", n)
	}
}

func TestFailedFetchIsRetriedLater(t *testing.T) {
	t.Parallel()
	keys, secret, clk := newRing("")
	secret.set("", errors.New("secrets are down"))
	_, _, err := keys.Current(t.Context(), "x")
	if !errors.Is(err, config.ErrUnavailable) || !strings.Contains(err.Error(), "secrets are down") {
		t.Fatalf("got error %v, want ErrUnavailable with its cause", err)
	}
	fetches := secret.fetches()
	if fetches < 2 {
		t.Errorf("got %d fetches, want retries", fetches)
	}
	if _, _, err = keys.Current(t.Context(), "x"); !errors.Is(err, config.ErrUnavailable) || secret.fetches() != fetches {
		t.Errorf("got error %v after %d more fetches, want ErrUnavailable without a fetch", err, secret.fetches()-fetches)
	}
	secret.set(`{"current":"k1","k1":"`+key1+`"}`, nil)
	clk.advance(time.Second)
	if _, _, err = keys.Current(t.Context(), "x"); err != nil {
		t.Errorf("got error %v after the pause, want none", err)
	}
}

func TestFailedRefetchKeepsTheRing(t *testing.T) {
	t.Parallel()
	keys, secret, clk := newRing(`{"current":"k1","k1":"` + key1 + `"}`)
	if _, _, err := keys.Current(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	secret.set(`{"current":"k1"}`, nil)
	clk.advance(time.Minute)
	if _, err := keys.KeyToVerify(t.Context(), "k9", "x"); !errors.Is(err, config.ErrUnavailable) {
		t.Errorf("an unknown key and an invalid ring: got error %v, want ErrUnavailable", err)
	}
	if _, err := keys.KeyToVerify(t.Context(), "k1", "x"); err != nil {
		t.Errorf("got error %v for a key of the previous ring, want none", err)
	}
}

func TestInvalidRingsAreRejected(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":                     ``,
		"not JSON":                  `k1=` + key1,
		"array":                     `["` + key1 + `"]`,
		"no current":                `{"k1":"` + key1 + `"}`,
		"unknown current":           `{"current":"k2","k1":"` + key1 + `"}`,
		"current names itself":      `{"current":"current"}`,
		"duplicate name":            `{"current":"k1","k1":"` + key1 + `","k1":"` + key2 + `"}`,
		"number":                    `{"current":"k1","k1":1234567890123456789012345678901234567890}`,
		"nested":                    `{"current":"k1","keys":{"k1":"` + key1 + `"}}`,
		"short":                     `{"current":"k1","k1":"` + key1[:31] + `"}`,
		"short older key":           `{"current":"k1","k1":"` + key1 + `","k0":"hunter2"}`,
		"repetitive":                `{"current":"k1","k1":"` + strings.Repeat("ab", 32) + `"}`,
		"ID with a space":           `{"current":"k 1","k 1":"` + key1 + `"}`,
		"empty ID":                  `{"current":"","":"` + key1 + `"}`,
		"current only decrypts":     `{"current":"k1","k1":"` + key1 + `","decryptOnly":["k1"]}`,
		"unknown key only decrypts": `{"current":"k1","k1":"` + key1 + `","decryptOnly":["k2"]}`,
		"decryptOnly is not a list": `{"current":"k1","k1":"` + key1 + `","k2":"` + key2 + `","decryptOnly":"k2"}`,
		"misspelled decryptOnly":    `{"current":"k1","k1":"` + key1 + `","k2":"` + key2 + `","decryptonly":["k2"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, secret, _ := newRing(text)
			_, _, err := keys.Current(t.Context(), "x")
			if !errors.Is(err, config.ErrUnavailable) {
				t.Fatalf("got error %v, want ErrUnavailable", err)
			}
			if msg := err.Error(); strings.Contains(msg, key1[:8]) || strings.Contains(msg, "hunter2") {
				t.Errorf("the error contains a key: %s", msg)
			}
			if n := secret.fetches(); n != 1 {
				t.Errorf("got %d fetches of an invalid ring, want 1", n)
			}
		})
	}
}
