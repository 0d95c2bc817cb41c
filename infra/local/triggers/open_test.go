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
	for _, tc := range []struct {
		want   string
		change func(*Options, *resources.EventSourceMapping)
	}{
		{"required", func(o *Options, _ *resources.EventSourceMapping) { o.Now = nil }},
		{"required", func(o *Options, _ *resources.EventSourceMapping) { o.Invoke = nil }},
		{"required", func(o *Options, _ *resources.EventSourceMapping) { o.Dir = "" }},
		{"is configured twice", func(o *Options, m *resources.EventSourceMapping) { o.Mappings = append(o.Mappings, *m) }},
		{"one of table and queue", func(_ *Options, m *resources.EventSourceMapping) { m.Table = "" }},
		{"TRIM_HORIZON or LATEST", func(_ *Options, m *resources.EventSourceMapping) { m.StartingPosition = "AT_TIMESTAMP" }},
		{"batch size", func(_ *Options, m *resources.EventSourceMapping) { m.BatchSize = 10_001 }},
		{"batching window", func(_ *Options, m *resources.EventSourceMapping) { m.BatchingWindow = 6 * time.Minute }},
		{"parallelization", func(_ *Options, m *resources.EventSourceMapping) { m.ParallelizationFactor = 11 }},
		{"retries", func(_ *Options, m *resources.EventSourceMapping) { m.MaximumRetryAttempts = -2 }},
		{"at most 10", func(_ *Options, m *resources.EventSourceMapping) { m.Filters = make([]string, 11) }},
		{"one of table and queue", func(_ *Options, m *resources.EventSourceMapping) { m.Queue = "jobs" }},
		{"a batch size above 10 needs", func(_ *Options, m *resources.EventSourceMapping) { m.Table, m.Queue, m.BatchSize = "", "jobs", 11 }},
		{"batch size must be", func(_ *Options, m *resources.EventSourceMapping) {
			m.Table, m.Queue, m.BatchSize, m.BatchingWindow = "", "jobs", 10_001, time.Second
		}},
		{"maximum concurrency", func(_ *Options, m *resources.EventSourceMapping) {
			m.Table, m.Queue, m.MaximumConcurrency = "", "jobs", 1
		}},
		{"maximum concurrency", func(_ *Options, m *resources.EventSourceMapping) {
			m.Table, m.Queue, m.MaximumConcurrency = "", "jobs", 1001
		}},
		{"on-failure", func(_ *Options, m *resources.EventSourceMapping) {
			m.Table, m.Queue, m.OnFailureQueue = "", "jobs", "failures"
		}},
		{"FIFO", func(_ *Options, m *resources.EventSourceMapping) { m.Table, m.Queue = "", "jobs.fifo" }},
		{`FnEvents: filter pattern: a: unknown operator "like", in {"a": [{"like": "x"}]}`, func(_ *Options, m *resources.EventSourceMapping) {
			m.Filters, m.Enabled = []string{`{"a": [{"like": "x"}]}`}, false
		}},
	} {
		o := Options{
			Invoke: func(context.Context, runtime.Invocation) (*runtime.Response, error) { return nil, runtime.ErrClosed },
			Dir:    t.TempDir(), Now: time.Now,
			Mappings: []resources.EventSourceMapping{{Name: "FnEvents", Function: "Fn", Table: "things", Enabled: true, StartingPosition: latest}},
		}
		mapping := o.Mappings[0]
		tc.change(&o, &mapping)
		o.Mappings[0] = mapping
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
}

func TestDisabledMappings(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r, err := Open(Options{
			Invoke: func(context.Context, runtime.Invocation) (*runtime.Response, error) { return nil, runtime.ErrClosed },
			Dir:    dir, Now: time.Now, Endpoint: "http://127.0.0.1:1",
			Mappings: []resources.EventSourceMapping{
				{Name: "FnEvents", Function: "Fn", Table: "things", StartingPosition: latest}, {Name: "FnJobs", Function: "Fn", Queue: "jobs"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Start()
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("%v, %v", files, err)
		}
	})
}

func TestDamagedPositions(t *testing.T) {
	t.Parallel()
	logger := slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	p, err := openPositions(dir, "Fn/Events", logger)
	if err != nil {
		t.Fatal(err)
	}
	p.reset("arn", map[string]position{"shard-1": {positionAfter, "100"}})
	p.sync()
	if again, err := openPositions(dir, "Fn/Events", logger); err != nil || again.stream() != "arn" || again.of("shard-1") != (position{positionAfter, "100"}) {
		t.Fatalf("%+v, %v", again, err)
	}
	good, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{
		"", "{}", string(good[:len(good)/2]), strings.Replace(string(good), "100", "101", 1), strings.Replace(string(good), "triggers/1", "triggers/2", 1),
		strings.Replace(string(good), "Fn/Events", "Other", 1), strings.Replace(string(good), `"format"`, `"more": 1, "format"`, 1),
	} {
		if err := os.WriteFile(p.path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := openPositions(dir, "Fn/Events", logger)
		if err == nil || !strings.Contains(err.Error(), p.path+" is damaged") {
			t.Errorf("%q: %v", damage, err)
		}
		if kept, _ := os.ReadFile(p.path); string(kept) != damage {
			t.Error("the file was changed")
		}
	}
}

// TestPositionsThatCannotBeWritten checks that a mapping continues, logs the problem once, and writes its positions later.
func TestPositionsThatCannotBeWritten(t *testing.T) {
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
		equal(t, "log", r.logs.count("ERROR positions can't be written"), 1)
		if err := os.Remove(block); err != nil {
			t.Fatal(err)
		}
		after(time.Second)
		equal(t, "position", r.position(t, "shard-1"), position{positionAfter, "101"})
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
