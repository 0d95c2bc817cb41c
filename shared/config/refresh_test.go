package config_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/config"
)

const (
	ring1 = `{"current":"k1","k1":"` + key1 + `"}`
	ring2 = `{"current":"k2","k2":"` + key2 + `"}`
)

// use makes an invocation that reads the ID of the current key. It returns the ID when the invocation has ended.
func use(t *testing.T, keys *config.Keys) (kid string, err error) {
	t.Helper()
	ctx, wait := async.WithInvocation(t.Context())
	defer wait()
	kid, _, err = keys.Current(ctx, "x")
	return kid, err
}

// want fails the test unless kid is the ID of the current key, and fetches is the number of times that the secret was
// read.
func want(t *testing.T, keys *config.Keys, secret *fakeSecret, kid string, fetches int) {
	t.Helper()
	if got, err := use(t, keys); err != nil || got != kid || secret.fetches() != fetches {
		t.Errorf("got the key %q, %v after %d fetches, want %s after %d", got, err, secret.fetches(), kid, fetches)
	}
}

// A request with an old ring uses it, and starts a read of the secret. The invocation ends after the read.
func TestOldRingIsReadInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys, secret, clk := newRing(ring1)
		want(t, keys, secret, "k1", 1)
		clk.advance(4*time.Minute - time.Nanosecond)
		want(t, keys, secret, "k1", 1)
		clk.advance(2 * time.Minute)
		secret.set(ring2, nil)
		secret.gate = make(chan struct{})
		ctx, wait := async.WithInvocation(t.Context())
		for range 3 {
			if kid, _, err := keys.Current(ctx, "x"); err != nil || kid != "k1" {
				t.Fatalf("during the read: got the key %q, %v, want k1", kid, err)
			}
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			wait()
		}()
		synctest.Wait()
		select {
		case <-ended:
			t.Fatal("the invocation ended before the read")
		default:
		}
		close(secret.gate)
		<-ended
		want(t, keys, secret, "k2", 2)
	})
}

// The ages at which instances read a ring again differ, and are between four and six minutes.
func TestRereadsAreSpread(t *testing.T) {
	t.Parallel()
	ages := map[time.Duration]bool{}
	for range 20 {
		keys, secret, clk := newRing(ring1)
		want(t, keys, secret, "k1", 1)
		for age := time.Duration(0); secret.fetches() == 1; age += time.Second {
			if _, err := use(t, keys); err != nil || age > 6*time.Minute+time.Second {
				t.Fatalf("got error %v and no second fetch after %v", err, age)
			}
			if secret.fetches() == 2 {
				if age < 4*time.Minute {
					t.Errorf("the ring was read again after %v", age)
				}
				ages[age] = true
			}
			clk.advance(time.Second)
		}
	}
	if len(ages) < 5 {
		t.Errorf("20 instances read the ring again after %v, want more different ages", ages)
	}
}

// An instance that was frozen for more than ten minutes reads the ring before it uses it.
func TestStaleRingIsReadFirst(t *testing.T) {
	t.Parallel()
	keys, secret, clk := newRing(ring1)
	want(t, keys, secret, "k1", 1)
	secret.set(ring2, nil)
	clk.advance(10*time.Minute + time.Nanosecond)
	want(t, keys, secret, "k2", 2)
	clk.advance(-time.Hour) // a clock that was set back makes the age of the ring unknown
	secret.set(ring1, nil)
	want(t, keys, secret, "k1", 3)
}

// While the secret cannot be read, the ring is used for an hour.
func TestUnreadableRingIsUsedForAnHour(t *testing.T) {
	t.Parallel()
	keys, secret, clk := newRing(ring1)
	want(t, keys, secret, "k1", 1)
	secret.set("", errors.New("down"))
	for _, fetches := range []int{4, 8, 12, 16} { // a read has up to four fetches
		clk.advance(15 * time.Minute)
		want(t, keys, secret, "k1", 1+fetches)
	}
	clk.advance(time.Second)
	if _, err := use(t, keys); !errors.Is(err, config.ErrUnavailable) {
		t.Errorf("got error %v after an hour, want ErrUnavailable", err)
	}
	secret.set(ring2, nil)
	clk.advance(time.Minute)
	if kid, err := use(t, keys); err != nil || kid != "k2" {
		t.Errorf("got the key %q, %v after the outage, want k2", kid, err)
	}
}

// While there is a ring that can be used, an invalid secret is read at most once a minute.
func TestInvalidRingIsReadOnceAMinute(t *testing.T) {
	t.Parallel()
	keys, secret, clk := newRing(ring1)
	want(t, keys, secret, "k1", 1)
	secret.set(`{"current":"k2"}`, nil) // without the key k2
	for age := time.Second; age <= time.Hour; age += time.Second {
		clk.advance(time.Second)
		if kid, err := use(t, keys); err != nil || kid != "k1" {
			t.Fatalf("got the key %q, %v after %v, want k1", kid, err, age)
		}
	}
	if n := secret.fetches(); n < 55 || n > 58 {
		t.Errorf("got %d fetches in an hour, want one at its beginning, and one a minute after the first 4 to 6 minutes", n)
	}
}

// A key that was removed, or that can only decrypt, verifies no signature ten minutes later in any running instance,
// even if the instance gets requests all the time.
func TestRemovedKeyStopsVerifying(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ring     string
		decrypts bool
	}{
		"removed":      {ring2, false},
		"decrypt only": {`{"current":"k2","k1":"` + key1 + `","k2":"` + key2 + `","decryptOnly":["k1"]}`, true},
	} {
		for _, pause := range []time.Duration{time.Second, time.Minute, 11 * time.Minute} {
			keys, secret, clk := newRing(ring1)
			want(t, keys, secret, "k1", 1)
			secret.set(tc.ring, nil)
			for age := time.Duration(0); age <= 10*time.Minute; age += pause {
				clk.advance(pause)
				_, _ = use(t, keys)
			}
			if _, err := keys.KeyToVerify(t.Context(), "k1", "x"); !errors.Is(err, config.ErrUnknownKey) {
				t.Errorf("%s, a request every %v: got error %v, want ErrUnknownKey", name, pause, err)
			}
			wantErr := config.ErrUnknownKey
			if tc.decrypts {
				wantErr = config.ErrDamaged // the key was used
			}
			if _, err := keys.Open(t.Context(), "x", "k1", nil, nil); !errors.Is(err, wantErr) {
				t.Errorf("%s, a request every %v: got error %v of Open, want %v", name, pause, err, wantErr)
			}
		}
	}
}

// A read that panics returns the panic as an error. The next read can succeed.
func TestPanickingRead(t *testing.T) {
	t.Parallel()
	broken := true
	clk := &fakeClock{}
	keys := config.NewKeys(func(context.Context) (string, error) {
		if broken {
			panic("broken")
		}
		return ring1, nil
	}, clk.now)
	_, _, err := keys.Current(t.Context(), "x")
	if !errors.Is(err, config.ErrUnavailable) || !strings.Contains(err.Error(), "panic: broken") {
		t.Errorf("got error %v, want ErrUnavailable with the panic", err)
	}
	broken = false
	clk.advance(time.Second)
	if kid, err := use(t, keys); err != nil || kid != "k1" {
		t.Errorf("after the panic: got the key %q, %v, want k1", kid, err)
	}
}

// Credentials are read again as often as the key ring.
func TestCredentialIsRefreshed(t *testing.T) {
	t.Parallel()
	secret, clk := &fakeSecret{text: `{"oauthClientSecret":"","unused":"x"}`}, &fakeClock{}
	credential := config.NewCredentials(secret.fetch, clk.now).Field("oauthClientSecret")
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{0, ""}, {0, ""}, {10*time.Minute + time.Second, "s3cret"}} {
		clk.advance(step.after)
		if got, err := credential.Get(t.Context()); err != nil || got != step.want {
			t.Errorf("got secret %q, %v after %v, want %q", got, err, step.after, step.want)
		}
		secret.set(`{"oauthClientSecret":"s3cret"}`, nil)
	}
}
