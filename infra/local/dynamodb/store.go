package dynamodb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A data folder is a marker file that says whose it is and in which version,
// and a folder of Pebble's. The marker is written first and read first, so that
// nothing is ever opened, or written, that is not ours.
const (
	markerFile  = "FORMAT"
	markerText  = "embedded-dynamodb 1\n"
	storeFolder = "store"
)

// Memory: the local platform runs beside an editor and a browser.
const (
	memTableBytes   = 4 << 20
	blockCacheBytes = 8 << 20
	bloomBitsPerKey = 10
)

// openStore opens Pebble in options.Dir after making sure that the folder is
// empty or ours.
func openStore(options Options) (*pebble.DB, error) {
	cache := pebble.NewCache(blockCacheBytes)
	defer cache.Unref()
	settings := &pebble.Options{
		Cache:              cache,
		MemTableSize:       memTableBytes,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             storeLogger{options.Logger},
		LoggerAndTracer:    nil,
		Merger:             counterMerger,
	}
	for i := range settings.Levels {
		settings.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBitsPerKey)
	}
	if options.Dir == "" {
		settings.FS = vfs.NewMem()
		settings.DisableWAL = true
		store, err := pebble.Open("memory", settings)
		if err != nil {
			return nil, fmt.Errorf("dynamodb: opening a store in memory: %w", err)
		}
		return store, nil
	}
	settings.FS = options.fs
	if err := checkFolder(options.fs, options.Dir); err != nil {
		return nil, err
	}
	store, err := pebble.Open(options.fs.PathJoin(options.Dir, storeFolder), settings)
	if err != nil {
		return nil, fmt.Errorf("dynamodb: cannot open the data in %s (in use by another process, or damaged): %w", options.Dir, err)
	}
	return store, nil
}

// checkFolder accepts a folder with our marker, and makes one of a missing or
// empty folder. Anything else is an error, and nothing was touched.
func checkFolder(files vfs.FS, dir string) error {
	marker := files.PathJoin(dir, markerFile)
	names, err := files.List(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("dynamodb: reading the data folder: %w", err)
	}
	if len(names) == 0 {
		return createMarker(files, dir, marker)
	}
	file, err := files.Open(marker)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("dynamodb: %s holds files that are not a database of this program: refusing to touch it", dir)
	}
	if err != nil {
		return fmt.Errorf("dynamodb: reading the data folder's format: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 2*int64(len(markerText))))
	if err != nil {
		return fmt.Errorf("dynamodb: reading the data folder's format: %w", err)
	}
	if string(text) != markerText {
		return fmt.Errorf("dynamodb: %s has the format %q, this program reads %q: refusing to touch it",
			filepath.Join(dir, markerFile), bytes.TrimSpace(text), bytes.TrimSpace([]byte(markerText)))
	}
	return nil
}

// createMarker writes the marker under another name first: a crash leaves an
// empty folder's worth of nothing, or a whole marker.
func createMarker(fs vfs.FS, dir, marker string) error {
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("dynamodb: making the data folder: %w", err)
	}
	file, err := fs.Create(marker, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("dynamodb: marking the data folder: %w", err)
	}
	_, err = file.Write([]byte(markerText))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("dynamodb: marking the data folder: %w", err)
	}
	folder, err := fs.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("dynamodb: marking the data folder: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("dynamodb: marking the data folder: %w", err)
	}
	return nil
}

// storeLogger routes Pebble's own log to slog: its chatter at debug level.
type storeLogger struct{ log *slog.Logger }

func (l storeLogger) Infof(format string, args ...any) {
	l.log.Debug("store: " + fmt.Sprintf(format, args...))
}

func (l storeLogger) Errorf(format string, args ...any) {
	l.log.Error("store: " + fmt.Sprintf(format, args...))
}

// Fatalf is called when going on would lose data; Pebble expects it not to return.
func (l storeLogger) Fatalf(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	l.log.Error("store: " + message)
	panic("dynamodb: the store cannot go on: " + message)
}

// Counters (items and bytes of a table or index) are sums of deltas: every
// write adds its own with a merge, nobody reads before writing, and a crash
// loses none. Pebble folds them together when it compacts.
var counterMerger = &pebble.Merger{
	Name: "embedded-dynamodb.counter",
	Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		sum := &counterSum{}
		return sum, sum.add(value)
	},
}

// counters are the number of items and the sum of their sizes in bytes.
type counters struct{ items, bytes int64 }

func (c counters) append(dst []byte) []byte {
	return binary.AppendVarint(binary.AppendVarint(dst, c.items), c.bytes)
}

func parseCounters(value []byte) (counters, error) {
	items, n := binary.Varint(value)
	if n <= 0 {
		return counters{}, errDamagedCounter
	}
	size, m := binary.Varint(value[n:])
	if m <= 0 || n+m != len(value) {
		return counters{}, errDamagedCounter
	}
	return counters{items, size}, nil
}

var errDamagedCounter = errors.New("damaged counter")

type counterSum struct{ counters }

func (s *counterSum) add(value []byte) error {
	delta, err := parseCounters(value)
	s.items += delta.items
	s.bytes += delta.bytes
	return err
}

func (s *counterSum) MergeNewer(value []byte) error { return s.add(value) }
func (s *counterSum) MergeOlder(value []byte) error { return s.add(value) }

func (s *counterSum) Finish(bool) ([]byte, io.Closer, error) { return s.append(nil), nil, nil }
