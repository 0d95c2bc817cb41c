package delivery

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

const webhookA, webhookB = "wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "wh_01K9ZQ3V7M8T5XW2ABCDEFGHJM"

// noon is the time in the tests without a fixture.
var noon = time.Date(2031, 5, 5, 12, 0, 0, 0, time.UTC)

func fixedClock() time.Time { return noon }

func TestSealing(t *testing.T) {
	t.Parallel()
	s := Secrets{slicetest.Keys(fixedClock)}
	rapid.Check(t, func(r *rapid.T) {
		secret := rapid.String().Draw(r, "secret")
		sealed, err := s.Seal(t.Context(), webhookA, secret)
		if err != nil {
			r.Fatal(err)
		}
		if opened, err := s.Open(t.Context(), webhookA, sealed); err != nil || opened != secret {
			r.Fatalf("got %q, %v, want %q", opened, err, secret)
		}
		if again, _ := s.Seal(t.Context(), webhookA, secret); again == sealed {
			r.Fatalf("%s was returned twice", sealed)
		}
		if _, err := s.Open(t.Context(), webhookB, sealed); !errors.Is(err, errNotSealed) {
			r.Fatalf("open for another webhook: got %v, want errNotSealed", err)
		}
		i := rapid.IntRange(0, len(sealed)-1).Draw(r, "index")
		otherByte := rapid.ByteRange('0', 'z').Filter(func(b byte) bool { return b != sealed[i] }).Draw(r, "byte")
		changed := sealed[:i] + string(otherByte) + sealed[i+1:]
		if opened, err := s.Open(t.Context(), webhookA, changed); !isLost(err) {
			r.Fatalf("open %q, in which one byte was changed: got %q, %v, want an error", changed, opened, err)
		}
	})
	for _, text := range []string{"", "k1", "k1.", ".", "k1.AAAA", "k1.*", "k2." + strings.Repeat("A", 60)} {
		if _, err := s.Open(t.Context(), webhookA, text); !isLost(err) {
			t.Errorf("open %q: got %v, want an error that the secret is lost", text, err)
		}
	}
}

// secretsWithKeys returns Secrets with a ring of keys. The first key is the current one. If there are no keys, the ring
// is unavailable.
func secretsWithKeys(kids ...string) Secrets {
	ring := ""
	for i, kid := range kids {
		if i == 0 {
			ring = `{"current":"` + kid + `"`
		}
		ring += `,"` + kid + `":"the test key with the ID ` + kid + ` of 32 bytes"`
	}
	return Secrets{config.NewKeys(func(context.Context) (string, error) {
		if ring == "" {
			return "", errors.New("the key ring is unavailable")
		}
		return ring + "}", nil
	}, fixedClock)}
}

// Secrets that were sealed with an old key can be opened until the key is removed from the ring.
func TestSecretsOfOldKeys(t *testing.T) {
	t.Parallel()
	oldRing, rotatedRing, newRing := secretsWithKeys("k1"), secretsWithKeys("k2", "k1"), secretsWithKeys("k2")
	wantLive := func(s Secrets, w Webhook, want ...string) {
		t.Helper()
		if live, err := s.Live(t.Context(), w, noon); err != nil || !slices.Equal(live, want) {
			t.Errorf("got the secrets %q, %v, want %q", live, err, want)
		}
	}
	sealed, err := oldRing.Seal(t.Context(), webhookA, "old")
	if err != nil {
		t.Fatal(err)
	}
	w := Webhook{ID: webhookA, Secret: sealed}
	wantLive(rotatedRing, w, "old")
	if _, err := newRing.Live(t.Context(), w, noon); !errors.Is(err, config.ErrUnknownKey) {
		t.Errorf("Live without the old key: got %v, want ErrUnknownKey", err)
	}
	next, rotated, err := newRing.Rotate(t.Context(), w, "new", noon)
	if err != nil || !rotated || len(next.Previous) != 0 {
		t.Errorf("got %+v, %t, %v, want a rotation without a previous secret", next, rotated, err)
	}
	next.Previous = []PreviousSecret{{Sealed: sealed, Until: clock.Stamp(noon.Add(time.Hour))}}
	wantLive(newRing, next, "new")
	wantLive(rotatedRing, next, "new", "old")
	unavailable := secretsWithKeys()
	if _, _, err := unavailable.Rotate(t.Context(), w, "new", noon); !errors.Is(err, config.ErrUnavailable) {
		t.Errorf("Rotate: got %v, want ErrUnavailable", err)
	}
	if _, err := unavailable.Live(t.Context(), w, noon); !errors.Is(err, config.ErrUnavailable) {
		t.Errorf("Live: got %v, want ErrUnavailable", err)
	}
}

// After any sequence of rotations, the live secrets are the newest one and at most twenty that were replaced less than
// 24 h ago, newest first and without duplicates.
func TestRotations(t *testing.T) {
	t.Parallel()
	s := Secrets{slicetest.Keys(fixedClock)}
	rapid.Check(t, func(r *rapid.T) {
		now := noon
		sealed, err := s.Seal(t.Context(), webhookA, "a")
		if err != nil {
			r.Fatal(err)
		}
		w := Webhook{ID: webhookA, Secret: sealed}
		type replaced struct {
			secret string
			at     time.Time
		}
		current, history := "a", []replaced(nil)
		few, hours := rapid.Bool().Draw(r, "few secrets"), rapid.SampledFrom([]int{1, 30}).Draw(r, "hours between rotations")
		for range rapid.IntRange(1, 30).Draw(r, "rotations") {
			now = now.Add(time.Duration(rapid.IntRange(0, hours).Draw(r, "hours")) * time.Hour)
			secret := strconv.Itoa(rapid.IntRange(0, 1000).Draw(r, "secret"))
			if few {
				secret = secret[:1]
			}
			next, rotated, err := s.Rotate(t.Context(), w, secret, now)
			if err != nil || rotated != (secret != current) {
				r.Fatalf("rotation from %s to %s: got %t, %v", current, secret, rotated, err)
			}
			if rotated {
				history = slices.DeleteFunc(append([]replaced{{current, now}}, history...), func(old replaced) bool {
					return old.secret == secret || now.Sub(old.at) >= secretOverlap
				})
				history = history[:min(len(history), maxPrevious)]
				current, w = secret, next
			}
			want := []string{current}
			for _, old := range history {
				if now.Sub(old.at) < secretOverlap {
					want = append(want, old.secret)
				}
			}
			live, err := s.Live(t.Context(), w, now)
			if err != nil {
				r.Fatal(err)
			}
			if diff := cmp.Diff(want, live); diff != "" {
				r.Fatalf("the live secrets (-want +got):\n%s", diff)
			}
		}
	})
}
