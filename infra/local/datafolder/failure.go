package datafolder

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// failure is the end of a store that cannot go on, because its disk is broken, or full while it is opened or closed. Pebble
// then refuses every further write, or retries without end, and it cannot be closed either: all that is left is to end the
// process. What was acknowledged is on the disk.
type failure struct {
	once     sync.Once
	happened chan struct{} // closed by the first report
	err      error         // set before that
	options  Options
}

func newFailure(options Options) *failure {
	return &failure{happened: make(chan struct{}), options: options}
}

// report notes the first reason and tells it; later ones are its consequences.
func (f *failure) report(reason string) {
	f.once.Do(func() {
		f.err = fmt.Errorf("%s: the store in %s cannot go on: %s", f.options.Service, f.options.Dir, reason)
		close(f.happened)
		if f.options.Failed != nil {
			go f.options.Failed(f.err)
		}
	})
}

// check answers the error when there has been one.
func (f *failure) check() error {
	select {
	case <-f.happened:
		return f.err
	default:
		return nil
	}
}

// guard runs what may be caught in a store that fails under it, and then doesn't wait for it. A store that has failed
// is not touched: requests may still be caught in it.
func (f *failure) guard(work func() error) error {
	if err := f.check(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-f.happened:
		return f.err
	}
}

// storeLogger routes Pebble's own log to slog, its chatter at debug level, and what ends the store to failure.
type storeLogger struct {
	log     *slog.Logger
	failure *failure
}

func (l storeLogger) Infof(format string, args ...any) {
	l.log.Debug("store: " + fmt.Sprintf(format, args...))
}

func (l storeLogger) Errorf(format string, args ...any) {
	l.log.Error("store: " + fmt.Sprintf(format, args...))
}

// Fatalf is called when going on would lose data; Pebble expects it not to return. The goroutine that it is called on
// is kept, with its locks: unwinding it would let others see, and write, a store that is half changed.
func (l storeLogger) Fatalf(format string, args ...any) {
	l.failure.report(strings.TrimPrefix(fmt.Sprintf(format, args...), "pebble: "))
	select {}
}

// background is told of a flush or compaction that failed, which Pebble begins anew at once and for ever. Damage is
// [storeLogger.corruption]'s: what it doesn't touch can still be used.
func (l storeLogger) background(err error) {
	if pebble.IsCorruptionError(err) {
		l.Errorf("background error: %v", err)
		return
	}
	l.failure.report(err.Error())
}

// corruption notes damage that a read met; the read itself fails.
func (l storeLogger) corruption(info pebble.DataCorruptionInfo) {
	l.log.Error("store: damaged data", slog.String("file", info.Path), slog.Any("error", info.Details))
}
