package triggers

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	invoke := func(context.Context, runtime.Invocation) (*runtime.Response, error) { return nil, runtime.ErrClosed }
	for want, o := range map[string]Options{
		"required": {Invoke: invoke, Dir: t.TempDir()},
		`mapping FnEvents: filter pattern: .a: [like] is not supported by the local platform`: {
			Invoke: invoke, Dir: t.TempDir(), Now: time.Now,
			Mappings: []resources.EventSourceMapping{{Name: "FnEvents", Table: "things", Filters: []string{`{"a": [{"like": "x"}]}`}}},
		},
	} {
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestDamagedPosition(t *testing.T) {
	t.Parallel()
	logger, dir := slog.New(slog.DiscardHandler), t.TempDir()
	p, err := openPosition(dir, "Fn/Events", logger)
	if err != nil {
		t.Fatal(err)
	}
	p.begin("arn")
	p.set("100")
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	if again, err := openPosition(dir, "Fn/Events", logger); err != nil || again.now != (position{"arn", "100"}) {
		t.Fatalf("%+v, %v", again, err)
	}
	good, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"", "{}", string(good[:len(good)/2]), strings.Replace(string(good), `"stream"`, `"more": 1, "stream"`, 1)} {
		if err := os.WriteFile(p.path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := openPosition(dir, "Fn/Events", logger)
		if err == nil || !strings.Contains(err.Error(), p.path+" is damaged") {
			t.Errorf("%q: %v", damage, err)
		}
		if kept, _ := os.ReadFile(p.path); string(kept) != damage {
			t.Error("the file was changed")
		}
	}
}

// TestPositionThatCannotBeWritten checks that a mapping continues, logs the problem once, and writes its position later.
func TestPositionThatCannotBeWritten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		block := filepath.Join(r.dir, "FnEvents.json")
		if err := os.Mkdir(block, 0o700); err != nil {
			t.Fatal(err)
		}
		r.fake.put("a")
		r.Start()
		after(time.Second)
		r.fake.put("b")
		after(time.Second)
		equal(t, "batches", r.function.seen(), []string{"100", "101"})
		equal(t, "log", r.logs.count("ERROR the position can't be written"), 1)
		if err := os.Remove(block); err != nil {
			t.Fatal(err)
		}
		after(time.Second)
		equal(t, "position", r.stored(t), "101")
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
