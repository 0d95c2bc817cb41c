package runtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
)

// replaceable returns a runtime whose function "echo" runs a link to this binary, and the path of the link.
func replaceable(t *testing.T, change func(*runtime.Options)) (*runtime.Runtime, string) {
	t.Helper()
	link := filepath.Join(t.TempDir(), "bootstrap")
	r := start(t, func(o *runtime.Options) {
		if err := os.Symlink(o.Functions[0].Bootstrap, link); err != nil {
			t.Fatal(err)
		}
		o.Functions[0].Bootstrap = link
		if change != nil {
			change(o)
		}
	})
	return r, link
}

// putScript replaces the binary with a shell script.
func putScript(t *testing.T, path, script string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestReplaceStopsIdleInstancesAndLetsBusyOnesFinish(t *testing.T) {
	t.Parallel()
	r, _ := replaceable(t, func(o *runtime.Options) { o.Patience = time.Millisecond })
	g := newGate(t)
	busy := make(chan reply, 1)
	go func() {
		busy <- invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Wait: g.url, Do: "pid"})})
	}()
	<-g.arrived
	idle := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Do: "pid"})}).body
	if err := r.Replace("echo"); err != nil {
		t.Fatal(err)
	}
	platformtest.Eventually(t, "only the busy instance is left", func() bool {
		list := r.Snapshot()
		return len(list) == 1 && list[0].Busy
	})
	next := invoke(t, r, runtime.Invocation{Function: "echo", Payload: event(t, order{Do: "pid"})}).body
	g.open()
	old := <-busy
	if old.FunctionError != nil || next == "" || next == idle || next == old.body {
		t.Errorf("processes: idle %s, busy %s (%v), after the replacement %s", idle, old.body, old.FunctionError, next)
	}
	platformtest.Eventually(t, "the busy instance has ended", func() bool { return len(r.Snapshot()) == 1 })
	if err := r.Replace("other"); !errors.Is(err, runtime.ErrFunctionNotFound) {
		t.Errorf("another function: error %v", err)
	}
}

// A call that waits for an instance which does not start is served by the binary that replaces it.
func TestReplaceOfABinaryThatDoesNotStart(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 1)
	r, path := replaceable(t, func(o *runtime.Options) { o.Lines = func(string, string) { started <- struct{}{} } })
	working, err := os.Readlink(path)
	if err != nil {
		t.Fatal(err)
	}
	putScript(t, path, "echo started; exec sleep 100")
	responses := make(chan reply, 1)
	go func() { responses <- invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{}`)}) }()
	<-started
	if err := errors.Join(os.Remove(path), os.Symlink(working, path)); err != nil {
		t.Fatal(err)
	}
	if err := r.Replace("echo"); err != nil {
		t.Fatal(err)
	}
	if got := <-responses; got.body != `{}` {
		t.Errorf("response %q, %v", got.body, got.FunctionError)
	}
}

// No call fails while its function is replaced again and again.
func TestReplaceUnderLoad(t *testing.T) {
	t.Parallel()
	r, _ := replaceable(t, func(o *runtime.Options) { o.MaxConcurrency, o.MaxWait = 3, time.Minute })
	var done atomic.Bool
	var clients sync.WaitGroup
	for range 6 {
		clients.Go(func() {
			for !done.Load() {
				got := invoke(t, r, runtime.Invocation{Function: "echo", Payload: []byte(`{"a":1}`)})
				if got.body != `{"a":1}` {
					t.Errorf("response %q, %v", got.body, got.FunctionError)
					return
				}
			}
		})
	}
	for range 30 {
		time.Sleep(10 * time.Millisecond)
		if err := r.Replace("echo"); err != nil {
			t.Error(err)
		}
	}
	done.Store(true)
	clients.Wait()
}
