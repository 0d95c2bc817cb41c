package config_test

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/config"
)

const (
	secret1 = "0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ"
	secret2 = "ZYXWVUTSRQPONMLKJIHGFEDCBA9876543210zyxwvutsrqponmlkjihgfedcba"
)

// vault is a secret that tests change.
type vault struct {
	mu    sync.Mutex
	text  string
	err   error
	calls int
	gate  chan struct{} // if set, fetches wait for it
}

func (v *vault) fetch(ctx context.Context) (string, error) {
	v.mu.Lock()
	gate := v.gate
	v.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls++
	return v.text, v.err
}

func (v *vault) set(text string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.text, v.err = text, err
}

func (v *vault) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.calls
}

// fakeClock is a clock that tests can set.
type fakeClock struct{ at atomic.Int64 }

func (h *fakeClock) now() time.Time          { return time.Unix(0, h.at.Load()) }
func (h *fakeClock) advance(d time.Duration) { h.at.Add(int64(d)) }

func newRing(text string) (*config.Keys, *vault, *fakeClock) {
	v, h := &vault{text: text}, &fakeClock{}
	return config.NewKeys(v.fetch, h.now), v, h
}

func TestKeysAreDerivedWithHKDF(t *testing.T) {
	t.Parallel()
	keys, _, _ := newRing(`{"current":"k1","k1":"` + secret1 + `"}`)
	kid, key, err := keys.Current(t.Context(), "session")
	if err != nil || kid != "k1" {
		t.Fatal(kid, err)
	}
	// Computed independently: HKDF-SHA256 without salt, info "devplatform/session", 32 bytes.
	// A change of this value ends every session.
	const want = "d2bd23924d587af7e0b00a54c889d11b275cbfe2dd4850e9ace47bea957ee8e9"
	if got := hex.EncodeToString(key); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	again, err := keys.Derive(t.Context(), "k1", "session")
	if err != nil || string(again) != string(key) {
		t.Errorf("derived again: %x, %v", again, err)
	}
	other, err := keys.Derive(t.Context(), "k1", "cursor")
	if err != nil || string(other) == string(key) {
		t.Errorf("another purpose has the same key: %v", err)
	}
}

func TestOlderKeysRemainUsable(t *testing.T) {
	t.Parallel()
	keys, _, _ := newRing(`{"current":"k2","k1":"` + secret1 + `","k2":"` + secret2 + `"}`)
	if kid, _, err := keys.Current(t.Context(), "session"); err != nil || kid != "k2" {
		t.Fatal(kid, err)
	}
	if _, err := keys.Derive(t.Context(), "k1", "session"); err != nil {
		t.Error(err)
	}
}

func TestUnknownKeyRefetchesAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	keys, v, h := newRing(`{"current":"k1","k1":"` + secret1 + `"}`)
	if _, _, err := keys.Current(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	v.set(`{"current":"k2","k1":"`+secret1+`","k2":"`+secret2+`"}`, nil)
	h.advance(50 * time.Second)
	for range 10 {
		h.advance(time.Second - time.Millisecond)
		if _, err := keys.Derive(t.Context(), "k2", "x"); !errors.Is(err, config.ErrUnknownKey) {
			t.Fatalf("within the minute: %v", err)
		}
	}
	if n := v.count(); n != 1 {
		t.Fatalf("%d fetches within the minute", n)
	}
	h.advance(10 * time.Millisecond)
	if _, err := keys.Derive(t.Context(), "k2", "x"); err != nil {
		t.Fatalf("after a minute: %v", err)
	}
	for range 10 {
		if _, err := keys.Derive(t.Context(), "k3", "x"); !errors.Is(err, config.ErrUnknownKey) {
			t.Fatal(err)
		}
	}
	if n := v.count(); n != 2 {
		t.Errorf("%d fetches, want 2", n)
	}
}

// A clock that is set back delays neither a rotated ring nor a retry.
func TestRingIsFetchedAfterTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	keys, v, h := newRing(`{"current":"k1","k1":"` + secret1 + `"}`)
	v.set("", errors.New("down"))
	if _, _, err := keys.Current(t.Context(), "x"); !errors.Is(err, config.ErrUnavailable) {
		t.Fatal(err)
	}
	h.advance(-time.Hour)
	v.set(`{"current":"k1","k1":"`+secret1+`"}`, nil)
	if _, _, err := keys.Current(t.Context(), "x"); err != nil {
		t.Errorf("after a failure in the future: %v", err)
	}
	h.advance(-24 * time.Hour)
	v.set(`{"current":"k2","k1":"`+secret1+`","k2":"`+secret2+`"}`, nil)
	if _, err := keys.Derive(t.Context(), "k2", "x"); err != nil {
		t.Errorf("a new key, after the ring was fetched in the future: %v", err)
	}
}

func TestInvalidKeyIDsCauseNoFetch(t *testing.T) {
	t.Parallel()
	keys, v, h := newRing(`{"current":"k1","k1":"` + secret1 + `"}`)
	for _, kid := range []string{"", "../../etc", "k1\x00", strings.Repeat("k", 65), "current#"} {
		h.advance(time.Hour)
		if _, err := keys.Derive(t.Context(), kid, "x"); !errors.Is(err, config.ErrUnknownKey) {
			t.Errorf("%q: %v", kid, err)
		}
	}
	if _, err := keys.Derive(t.Context(), "k1", "x"); err != nil || v.count() != 1 {
		t.Errorf("%v after %d fetches", err, v.count())
	}
}

func TestConcurrentCallersShareOneFetch(t *testing.T) {
	t.Parallel()
	keys, v, _ := newRing(`{"current":"k1","k1":"` + secret1 + `"}`)
	v.gate = make(chan struct{})
	keys.Start()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := keys.Current(ended, "x"); !errors.Is(err, config.ErrUnavailable) {
		t.Errorf("context canceled: %v", err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, _, err := keys.Current(t.Context(), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	close(v.gate)
	wg.Wait()
	if n := v.count(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

func TestFailedFetchIsRetriedLater(t *testing.T) {
	t.Parallel()
	keys, v, h := newRing("")
	v.set("", errors.New("secrets are down"))
	_, _, err := keys.Current(t.Context(), "x")
	if !errors.Is(err, config.ErrUnavailable) || !strings.Contains(err.Error(), "secrets are down") {
		t.Fatal(err)
	}
	tries := v.count()
	if tries < 2 {
		t.Errorf("gave up after %d tries", tries)
	}
	if _, _, err = keys.Current(t.Context(), "x"); !errors.Is(err, config.ErrUnavailable) || v.count() != tries {
		t.Errorf("immediately again: %v after %d fetches", err, v.count())
	}
	v.set(`{"current":"k1","k1":"`+secret1+`"}`, nil)
	h.advance(time.Second)
	if _, _, err = keys.Current(t.Context(), "x"); err != nil {
		t.Error(err)
	}
}

func TestFailedRefetchKeepsTheRing(t *testing.T) {
	t.Parallel()
	keys, v, h := newRing(`{"current":"k1","k1":"` + secret1 + `"}`)
	if _, _, err := keys.Current(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	v.set(`{"current":"k1"}`, nil)
	h.advance(time.Hour)
	if _, err := keys.Derive(t.Context(), "k9", "x"); !errors.Is(err, config.ErrUnavailable) {
		t.Errorf("unknown, and the ring is broken: %v", err)
	}
	if _, err := keys.Derive(t.Context(), "k1", "x"); err != nil {
		t.Error(err)
	}
}

func TestInvalidRingsAreRejected(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":              ``,
		"not JSON":           `k1=` + secret1,
		"array":              `["` + secret1 + `"]`,
		"no current":         `{"k1":"` + secret1 + `"}`,
		"unknown current":    `{"current":"k2","k1":"` + secret1 + `"}`,
		"current is current": `{"current":"current"}`,
		"a name twice":       `{"current":"k1","k1":"` + secret1 + `","k1":"` + secret2 + `"}`,
		"a number":           `{"current":"k1","k1":1234567890123456789012345678901234567890}`,
		"nested":             `{"current":"k1","keys":{"k1":"` + secret1 + `"}}`,
		"short":              `{"current":"k1","k1":"` + secret1[:31] + `"}`,
		"short older key":    `{"current":"k1","k1":"` + secret1 + `","k0":"hunter2"}`,
		"repetitive":         `{"current":"k1","k1":"` + strings.Repeat("ab", 32) + `"}`,
		"ID with a space":    `{"current":"k 1","k 1":"` + secret1 + `"}`,
		"empty ID":           `{"current":"","":"` + secret1 + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, v, _ := newRing(text)
			_, _, err := keys.Current(t.Context(), "x")
			if !errors.Is(err, config.ErrUnavailable) {
				t.Fatalf("accepted: %v", err)
			}
			if msg := err.Error(); strings.Contains(msg, secret1[:8]) || strings.Contains(msg, "hunter2") {
				t.Errorf("contains a key: %s", msg)
			}
			if v.count() != 1 {
				t.Errorf("asked %d times for the same text", v.count())
			}
		})
	}
}

func TestProvidersAreRefreshed(t *testing.T) {
	t.Parallel()
	v, h := &vault{text: `{"oauthClientSecret":"","unused":"x"}`}, &fakeClock{}
	p := config.NewProviders(v.fetch, h.now)
	expect := func(want string) {
		t.Helper()
		if got, err := p.OAuthClientSecret(t.Context()); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	expect("")
	v.set(`{"oauthClientSecret":"s3cret"}`, nil)
	expect("")
	h.advance(5 * time.Minute)
	expect("s3cret")
	v.set("", errors.New("secrets are down"))
	h.advance(5 * time.Minute)
	expect("s3cret")
}

func TestFetchSecret(t *testing.T) {
	t.Parallel()
	var target atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target.Store(r.Header.Get("X-Amz-Target"))
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=id/") {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(`{"Name":"keys","SecretString":"text"}`))
	}))
	t.Cleanup(server.Close)
	secrets := config.NewSecrets(config.AWS{
		Region: "us-east-1", AccessKeyID: "id", SecretAccessKey: "key",
		Endpoint: "http://127.0.0.1:1", SecretsEndpoint: server.URL,
	})
	got, err := secrets.Fetch("keys")(t.Context())
	if err != nil || got != "text" || target.Load() != "secretsmanager.GetSecretValue" {
		t.Errorf("%q, %v, %v", got, err, target.Load())
	}
	server.Close()
	if _, err = secrets.Fetch("keys")(t.Context()); err == nil {
		t.Error("no error although the server is down")
	}
}

func TestInvalidSecretResponses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"no such secret": {400, `{"__type":"ResourceNotFoundException","message":"hunter2"}`, "ResourceNotFoundException"},
		"down":           {503, `<html>hunter2</html>`, "503"},
		"binary":         {200, `{"SecretBinary":"hunter2"}`, "no text"},
		"not JSON":       {200, `hunter2`, "not JSON"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.status)
			_, _ = w.Write([]byte(tc.body))
		}))
		_, err := config.NewSecrets(config.AWS{Region: "us-east-1", Endpoint: server.URL}).Fetch("keys")(t.Context())
		server.Close()
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
