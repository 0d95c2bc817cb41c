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

// noon is the time in the tests without a pipeline.
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
		if opened, err := s.open(t.Context(), webhookA, sealed); err != nil || opened != secret {
			r.Fatalf("opened %q, %v", opened, err)
		}
		if _, err := s.open(t.Context(), webhookB, sealed); !errors.Is(err, errSealed) {
			r.Fatalf("for another webhook: %v", err)
		}
		i := rapid.IntRange(0, len(sealed)-1).Draw(r, "i")
		broken := sealed[:i] + string(rapid.ByteRange('0', 'z').Filter(func(b byte) bool { return b != sealed[i] }).Draw(r, "b")) + sealed[i+1:]
		if opened, err := s.open(t.Context(), webhookA, broken); !isLost(err) {
			r.Fatalf("opened %q of %q, %v", opened, broken, err)
		}
	})
	again := map[string]bool{}
	for range 10 {
		sealed, err := s.Seal(t.Context(), webhookA, "s")
		if err != nil || again[sealed] {
			t.Fatalf("%s, %v", sealed, err)
		}
		again[sealed] = true
	}
	for _, text := range []string{"", "k1", "k1.", ".", "k1.AAAA", "k1.*", "k2." + strings.Repeat("A", 60)} {
		if _, err := s.open(t.Context(), webhookA, text); !isLost(err) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// secretsWithKeys returns Secrets with keys, the first of which is the current one; without keys, the ring is
// unavailable.
func secretsWithKeys(kids ...string) Secrets {
	ring := ""
	for i, kid := range kids {
		if i == 0 {
			ring = `{"current":"` + kid + `"`
		}
		ring += `,"` + kid + `":"` + kid + ` is what seals the secrets of these tests"`
	}
	return Secrets{config.NewKeys(func(context.Context) (string, error) {
		if ring == "" {
			return "", errors.New("no ring today")
		}
		return ring + "}", nil
	}, fixedClock)}
}

// The keys of the ring are rotated, and a key may be removed.
func TestSecretsOfOldKeys(t *testing.T) {
	t.Parallel()
	old, both, only := secretsWithKeys("k1"), secretsWithKeys("k2", "k1"), secretsWithKeys("k2")
	sealed, err := old.Seal(t.Context(), webhookA, "old")
	if err != nil {
		t.Fatal(err)
	}
	w := Webhook{ID: webhookA, Secret: sealed}
	if live, err := both.Live(t.Context(), w, noon); err != nil || !slices.Equal(live, []string{"old"}) {
		t.Errorf("%q, %v", live, err)
	}
	if live, err := only.Live(t.Context(), w, noon); !errors.Is(err, config.ErrUnknownKey) {
		t.Errorf("%q, %v", live, err)
	}
	next, rotated, err := only.Rotate(t.Context(), w, "new", noon)
	if err != nil || !rotated || len(next.Previous) != 0 {
		t.Errorf("%+v, %t, %v", next, rotated, err)
	}
	next.Previous = []PreviousSecret{{Sealed: sealed, Until: clock.Stamp(noon.Add(time.Hour))}}
	if live, err := only.Live(t.Context(), next, noon); err != nil || !slices.Equal(live, []string{"new"}) {
		t.Errorf("%q, %v", live, err)
	}
	if live, err := both.Live(t.Context(), next, noon); err != nil || !slices.Equal(live, []string{"new", "old"}) {
		t.Errorf("%q, %v", live, err)
	}
	none := secretsWithKeys()
	if _, _, err := none.Rotate(t.Context(), w, "new", noon); !errors.Is(err, config.ErrUnavailable) {
		t.Errorf("without keys: %v", err)
	}
	if _, err := none.Live(t.Context(), w, noon); !errors.Is(err, config.ErrUnavailable) {
		t.Errorf("without keys: %v", err)
	}
}

// Whatever the order of rotations, the live secrets are the newest one and those that were replaced less than 24 h ago,
// at most twenty, newest first and none twice.
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
		for range rapid.IntRange(1, 8).Draw(r, "rotations") {
			now = now.Add(time.Duration(rapid.IntRange(0, 30).Draw(r, "hours")) * time.Hour)
			secret := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"}).Draw(r, "secret")
			next, rotated, err := s.Rotate(t.Context(), w, secret, now)
			if err != nil || rotated != (secret != current) {
				r.Fatalf("%s to %s: %t, %v", current, secret, rotated, err)
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
			if diff := cmp.Diff(want, live); diff != "" || err != nil {
				r.Fatal(diff, err)
			}
		}
	})
}

// After many rotations within a day, each of the latest twenty replaced secrets is still valid for 24 h.
func TestManyRotationsInADay(t *testing.T) {
	t.Parallel()
	s := Secrets{slicetest.Keys(fixedClock)}
	sealed, err := s.Seal(t.Context(), webhookA, "0")
	if err != nil {
		t.Fatal(err)
	}
	w, want := Webhook{ID: webhookA, Secret: sealed}, []string{"0"}
	for i := range 25 {
		if w, _, err = s.Rotate(t.Context(), w, strconv.Itoa(i+1), noon); err != nil {
			t.Fatal(err)
		}
		want = append([]string{strconv.Itoa(i + 1)}, want...)
		live, err := s.Live(t.Context(), w, noon.Add(secretOverlap-time.Millisecond))
		if diff := cmp.Diff(want[:min(len(want), 21)], live); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	}
}
