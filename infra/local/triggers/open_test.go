package triggers

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/resources"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	_, err := Open(Options{
		Positions: newMemory(), Now: time.Now,
		Mappings: []resources.EventSourceMapping{{Name: "FnEvents", Table: "things", Filters: []string{`{"a": [{"like": "x"}]}`}}},
	})
	const want = "mapping FnEvents: filter pattern: .a: [like] is not supported by the local platform"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestDamagedPosition(t *testing.T) {
	t.Parallel()
	logger, saved := slog.New(slog.DiscardHandler), newMemory()
	p, err := openProgress(saved, "FnEvents", logger)
	if err != nil {
		t.Fatal(err)
	}
	p.begin("arn")
	p.set("100")
	if again, err := openProgress(saved, "FnEvents", logger); err != nil || again.current != (position{"arn", "100"}) {
		t.Fatalf("%+v, %v", again, err)
	}
	for _, damage := range []string{"", `{"stream":"arn"`, `{"more":1}`} {
		saved.saved["FnEvents"] = []byte(damage)
		if _, err := openProgress(saved, "FnEvents", logger); err == nil {
			t.Errorf("%q was accepted", damage)
		}
	}
}

// TestPositionThatCannotBeSaved checks that a mapping continues, logs the problem once, and saves its position later.
func TestPositionThatCannotBeSaved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.saved.fail(errors.New("broken"))
		r.fake.put("a")
		r.Start()
		after(time.Second)
		r.fake.put("b")
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"100", "101"})
		equal(t, "log", r.logs.count("ERROR the position can't be saved"), 1)
		r.saved.fail(nil)
		r.fake.put("c")
		after(time.Second)
		equal(t, "position", r.savedPosition(t), "102")
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for failures, limit := range map[int]time.Duration{1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 4: 800 * time.Millisecond, 8: maxBackoff, 1000: maxBackoff} {
		for range 100 {
			if got := backoff(failures); got < limit/2 || got > limit {
				t.Errorf("%d failures: %v, want %v to %v", failures, got, limit/2, limit)
			}
		}
	}
}
