package datafolder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// verifyTime bounds how long an opening reads data to find damage.
const verifyTime = 100 * time.Millisecond

// checkStore opens existing data for reading only: whatever that finds damaged
// is refused before anything is written.
func checkStore(folder string, settings *pebble.Options) error {
	described, err := pebble.Peek(folder, settings.FS)
	if errors.Is(err, os.ErrNotExist) || err == nil && !described.Exists {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking at the store: %w", err)
	}
	if err := checkLogs(folder, settings.FS); err != nil {
		return err
	}
	reading := settings.Clone()
	reading.ReadOnly = true
	store, err := pebble.Open(folder, reading)
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	return errors.Join(verify(store), store.Close())
}

// verify reads all data, whose blocks have checksums, as far as the time goes.
func verify(store *pebble.DB) error {
	iterator, err := store.NewIter(nil)
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	timer := time.NewTimer(verifyTime)
	defer timer.Stop()
	for valid, more := iterator.First(), true; valid && more; valid = iterator.Next() {
		select {
		case <-timer.C:
			more = false
		default:
		}
	}
	if err := iterator.Close(); err != nil { // also what reading met
		return fmt.Errorf("reading the store: %w", err)
	}
	return nil
}

// The beginning of a record in Pebble's log: checksum (4 bytes), size (2), kind
// (1), number of the log (4).
const (
	recordKindAt      = 6
	recordNumberAt    = 7
	recordHeaderBytes = 11
	firstRecordKind   = 5 // older kinds have no log number, and are not written
	lastRecordKind    = 12
)

// checkLogs refuses a log that does not begin as one. Pebble itself takes a bad
// beginning for a write that was cut off, and would drop the log in silence. A
// file that is used again may begin with a record of an older log.
func checkLogs(folder string, files vfs.FS) error {
	names, err := files.List(folder)
	if err != nil {
		return fmt.Errorf("listing the store: %w", err)
	}
	for _, name := range names {
		base, isLog := strings.CutSuffix(name, ".log")
		number, err := strconv.ParseUint(base, 10, 32)
		if !isLog || err != nil {
			continue
		}
		header, err := readHeader(files, files.PathJoin(folder, name))
		if err != nil {
			return err
		}
		if len(header) < recordHeaderBytes || bytes.Equal(header, make([]byte, recordHeaderBytes)) {
			continue // nothing was written yet
		}
		kind := header[recordKindAt]
		written := binary.LittleEndian.Uint32(header[recordNumberAt:])
		if isTrailer := bytes.Equal(header[:recordKindAt], make([]byte, recordKindAt)); isTrailer && uint64(written) == number+1 {
			continue // closed without a write: the end's own record, numbered as the log that would follow
		}
		if kind < firstRecordKind || kind > lastRecordKind || uint64(written) > number {
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
	header, err := io.ReadAll(io.LimitReader(file, recordHeaderBytes))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("reading a log: %w", err)
	}
	return header, nil
}
