package datafolder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// verifyTime limits how long checkStore reads data.
const verifyTime = 100 * time.Millisecond

// checkStore opens an existing store only for reading, so that damage is found before anything is written.
func checkStore(path string, settings *pebble.Options) error {
	description, err := pebble.Peek(path, settings.FS)
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	if !description.Exists {
		return nil
	}
	if err := checkLogs(path, settings.FS); err != nil {
		return err
	}
	readOnly := settings.Clone()
	readOnly.ReadOnly = true
	readOnly.Experimental.CompactionScheduler = nil // a scheduler ends with its first store
	db, err := pebble.Open(path, readOnly)
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	return errors.Join(verify(db), db.Close())
}

// verify reads the data, which has checksums, for a limited time.
func verify(db *pebble.DB) error {
	iterator, err := db.NewIter(nil)
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	var timedOut atomic.Bool
	defer time.AfterFunc(verifyTime, func() { timedOut.Store(true) }).Stop()
	for valid := iterator.First(); valid && !timedOut.Load(); valid = iterator.Next() {
	}
	if err := iterator.Close(); err != nil { // includes the errors of reads
		return fmt.Errorf("reading the store: %w", err)
	}
	return nil
}

// The header of a record in Pebble's log: checksum (4 bytes), size (2), kind (1), number of the log (4).
const (
	kindOffset   = 6
	numberOffset = 7
	headerBytes  = 11
	minKind      = 5 // earlier kinds have no number, and are no longer written
	maxKind      = 12
)

// checkLogs returns an error if a log does not begin with a record. Pebble would take this for a write that was
// interrupted, and ignore the log. The record may be of an earlier log, because Pebble reuses files.
func checkLogs(path string, files vfs.FS) error {
	names, err := files.List(path)
	if err != nil {
		return fmt.Errorf("listing the store: %w", err)
	}
	for _, name := range names {
		base, isLog := strings.CutSuffix(name, ".log")
		number, err := strconv.ParseUint(base, 10, 32)
		if !isLog || err != nil {
			continue
		}
		header, err := readHeader(files, files.PathJoin(path, name))
		if err != nil {
			return err
		}
		if len(header) < headerBytes || bytes.Equal(header, make([]byte, headerBytes)) {
			continue // nothing was written yet
		}
		kind, written := header[kindOffset], uint64(binary.LittleEndian.Uint32(header[numberOffset:]))
		isEnd := bytes.Equal(header[:kindOffset], make([]byte, kindOffset)) && written == number+1
		if !isEnd && (kind < minKind || kind > maxKind || written > number) {
			return fmt.Errorf("%s is not a log", name)
		}
	}
	return nil
}

func readHeader(files vfs.FS, path string) ([]byte, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a log: %w", err)
	}
	header, err := io.ReadAll(io.LimitReader(file, headerBytes))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("reading a log: %w", err)
	}
	return header, nil
}
