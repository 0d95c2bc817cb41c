package datafolder

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// failure is the state of a store that cannot continue, because its disk is full or broken. Pebble then rejects every
// write or retries without end, and cannot be closed. The process can only end. All acknowledged writes are on the
// disk. A failure is also Pebble's logger, because Pebble reports some failures there.
type failure struct {
	once     sync.Once
	happened chan struct{} // closed by the first report
	err      error         // set before happened is closed
	dir      string
	options  Options
}

func newFailure(dir string, options Options) *failure {
	return &failure{happened: make(chan struct{}), dir: dir, options: options}
}

// report records the first reason. It ignores later reasons, which are consequences of the first.
func (f *failure) report(reason string) {
	f.once.Do(func() {
		f.err = fmt.Errorf("the data in %s cannot be written: %s; nothing that was acknowledged is lost", f.dir, reason)
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

// guard calls work, which may hang if the store fails, and returns when it is done or the store has failed.
func (f *failure) guard(work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-f.happened:
		return f.err
	}
}

// Infof implements pebble.Logger.
func (f *failure) Infof(format string, args ...any) {
	f.options.Logger.Debug("store: " + fmt.Sprintf(format, args...))
}

// Errorf implements pebble.Logger.
func (f *failure) Errorf(format string, args ...any) {
	f.options.Logger.Error("store: " + fmt.Sprintf(format, args...))
}

// Fatalf is called when the store would lose data if it continued. Pebble expects that it does not return. It blocks
// the goroutine with its locks, because other goroutines must not see or write an inconsistent store.
func (f *failure) Fatalf(format string, args ...any) {
	f.report(strings.TrimPrefix(fmt.Sprintf(format, args...), "pebble: "))
	select {}
}

// background is called when a flush or compaction fails, which Pebble retries without end. Damaged data is not a
// failure, because the rest of the data can be used.
func (f *failure) background(err error) {
	if pebble.IsCorruptionError(err) {
		f.Errorf("background error: %v", err)
		return
	}
	f.report(err.Error())
}

// corruption is called when a read finds damaged data. The read itself returns an error.
func (f *failure) corruption(info pebble.DataCorruptionInfo) {
	f.options.Logger.Error("store: damaged data", slog.String("file", info.Path), slog.Any("error", info.Details))
}
