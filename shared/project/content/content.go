// Package content defines how the bytes of a file are stored: compressed if that makes them smaller, and split into
// chunks that fit into a DynamoDB item. It does no I/O.
package content

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"devplatform/shared/db"
)

const (
	// MaxBytes is the maximum size of the content of a file.
	MaxBytes = 1 << 20
	// MaxChunk is the maximum size of a chunk. A DynamoDB item can have at most 400 KB, including attribute names
	// and keys.
	MaxChunk = 350 << 10
	// MaxChunks is the maximum number of chunks of a file. Packed content has at most MaxBytes+1 bytes, because the
	// format takes one byte. The division rounds up.
	MaxChunks = (MaxBytes + MaxChunk) / MaxChunk
	// Retention is the time for which a version of a file and its content are kept after the version was replaced or
	// deleted.
	Retention = 30 * 24 * time.Hour
)

// Ref refers to the stored content of a file. It is part of the file's record.
type Ref struct {
	ContentID string `dynamodbav:"content"` // does not change when the file is renamed
	Chunks    int    `dynamodbav:"chunks"`
}

// Keys returns the keys of the content's chunks in the contents table, in order. It returns nil if the Ref is not
// valid.
func (r Ref) Keys(projectID string) []db.Key {
	if r.Chunks < 0 || r.Chunks > MaxChunks {
		return nil
	}
	keys := make([]db.Key, 0, r.Chunks)
	for n := range r.Chunks {
		key := db.ChunkKey(projectID, r.ContentID, n)
		if key.IsZero() {
			return nil
		}
		keys = append(keys, key)
	}
	return keys
}

// The first byte of packed content is its format. These values are part of the data format.
const (
	formatRaw  = 0
	formatZstd = 1
)

// ErrCorrupt is the error for chunks that Pack cannot have produced. Join does not detect every corruption, so callers
// must compare the content with its hash.
var ErrCorrupt = errors.New("content: corrupt chunks")

// ErrTooLarge is the error for content of more than MaxBytes.
var ErrTooLarge = errors.New("content: larger than 1 MiB")

// Pack compresses data and splits it into chunks of at most MaxChunk bytes. It returns no chunks for empty data.
// Error: ErrTooLarge.
func Pack(data []byte) ([][]byte, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if len(data) > MaxBytes {
		return nil, ErrTooLarge
	}
	encoder, err := sharedEncoder()
	if err != nil {
		return nil, err
	}
	// The capacity is a guess that is enough for most files. EncodeAll grows the slice if necessary.
	packed := encoder.EncodeAll(data, append(make([]byte, 0, len(data)/2+64), formatZstd))
	if len(packed) > len(data) {
		packed = append(append(make([]byte, 0, len(data)+1), formatRaw), data...)
	}
	return slices.Collect(slices.Chunk(packed, MaxChunk)), nil
}

// Join returns the data that was passed to Pack. The data has at most MaxBytes, even if the chunks are corrupt. Error:
// ErrCorrupt.
func Join(chunks [][]byte) ([]byte, error) {
	if len(chunks) == 0 {
		return []byte{}, nil
	}
	packed := slices.Concat(chunks...)
	if len(packed) == 0 {
		return nil, fmt.Errorf("%w: no format byte", ErrCorrupt)
	}
	format, body := packed[0], packed[1:]
	switch {
	case format == formatRaw && len(body) <= MaxBytes:
		return body, nil
	case format != formatZstd:
		return nil, fmt.Errorf("%w: format %d, %d bytes", ErrCorrupt, format, len(body))
	}
	decoder, err := sharedDecoder()
	if err != nil {
		return nil, err
	}
	data, err := decoder.DecodeAll(body, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return data, nil
}

// sharedEncoder and sharedDecoder return the encoder and the decoder that all requests share. Each has a fixed number
// of workers, so memory does not grow with the number of concurrent calls.
var (
	sharedEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(workers), zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(MaxBytes), zstd.WithEncoderCRC(false)) // the file's record contains a SHA-256 hash
		if err != nil {
			return nil, fmt.Errorf("content: encoder: %w", err)
		}
		return encoder, nil
	})
	sharedDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(workers), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxBytes), zstd.WithDecoderMaxWindow(MaxBytes))
		if err != nil {
			return nil, fmt.Errorf("content: decoder: %w", err)
		}
		return decoder, nil
	})
)

// workers is the maximum number of concurrent calls of the encoder, and of the decoder. Other calls wait.
const workers = 2
