package dynamodb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Memory: the local platform runs beside an editor and a browser.
const (
	memTableBytes   = 4 << 20
	blockCacheBytes = 8 << 20
	bloomBitsPerKey = 10
)

// openStore opens Pebble in options.Dir after making sure that the folder is
// empty or ours.
func openStore(options Options, failure *failure) (*pebble.DB, error) {
	cache := pebble.NewCache(blockCacheBytes)
	defer cache.Unref()
	logger := storeLogger{options.Logger, failure}
	settings := &pebble.Options{
		Cache:              cache,
		MemTableSize:       memTableBytes,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             logger,
		EventListener: &pebble.EventListener{
			BackgroundError: logger.background,
			DataCorruption:  logger.corruption, // by default the process ends
		},
		Merger: counterMerger,
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
	settings.FS = vfs.OnDiskFull(options.fs, failure.diskFull)
	if err := checkFolder(options.fs, options.Dir); err != nil {
		return nil, err
	}
	folder := options.fs.PathJoin(options.Dir, storeFolder)
	if err := checkStore(folder, settings); err != nil {
		return nil, openError(options.Dir, err)
	}
	store, err := pebble.Open(folder, settings)
	if err != nil {
		return nil, openError(options.Dir, err)
	}
	if err := syncFolder(options.fs, options.Dir); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// openError says in one line, as a command line wants it, why there is no store.
func openError(dir string, err error) error {
	reason, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("dynamodb: cannot open the data in %s (in use by another process, or damaged): %s", dir, reason)
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
