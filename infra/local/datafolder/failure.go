package datafolder

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// failure is the state of a store that cannot continue, because its disk is broken, or is full while the store is
// opened or closed. Pebble then rejects every write or retries without end, and cannot be closed. The process can only
// end. All acknowledged writes are on the disk.
type failure struct {
	once     sync.Once
	happened chan struct{} // closed by the first report
	err      error         // set before happened is closed
	options  Options
}

func newFailure(options Options) *failure {
	return &failure{happened: make(chan struct{}), options: options}
}

// report records the first reason. It ignores later ones, which are consequences of the first.
func (f *failure) report(reason string) {
	f.once.Do(func() {
		f.err = fmt.Errorf("%s: the store in %s cannot continue: %s", f.options.Service, f.options.Dir, reason)
		close(f.happened)
		if f.options.Failed != nil {
			go f.options.Failed(f.err)
		}
	})
}

// check returns the error if the store has failed.
func (f *failure) check() error {
	select {
	case <-f.happened:
		return f.err
	default:
		return nil
	}
}

// guard calls work, which may hang if the store fails, and returns when it is done or the store has failed. If the
// store has already failed, it does not call work.
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

// storeLogger writes Pebble's log to slog, and reports errors after which the store cannot continue.
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

// Fatalf is called when the store would lose data if it continued. Pebble expects that it does not return. It blocks
// the goroutine with its locks, because other goroutines must not see or write an inconsistent store.
func (l storeLogger) Fatalf(format string, args ...any) {
	l.failure.report(strings.TrimPrefix(fmt.Sprintf(format, args...), "pebble: "))
	select {}
}

// background is called when a flush or compaction fails, which Pebble retries without end. Damaged data is not a
// failure, because the rest of the data can be used.
func (l storeLogger) background(err error) {
	if pebble.IsCorruptionError(err) {
		l.Errorf("background error: %v", err)
		return
	}
	l.failure.report(err.Error())
}

// corruption is called when a read finds damaged data. The read itself returns an error.
func (l storeLogger) corruption(info pebble.DataCorruptionInfo) {
	l.log.Error("store: damaged data", slog.String("file", info.Path), slog.Any("error", info.Details))
}
