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
	// MaxChunk is the maximum size of a chunk. A DynamoDB item holds 400 KB, including attribute names and keys.
	MaxChunk = 350 << 10
	// MaxChunks is the maximum number of chunks of a file: those of MaxBytes incompressible bytes and the format byte.
	MaxChunks = (MaxBytes + MaxChunk) / MaxChunk
	// Retention is how long a version of a file, and its content, is kept after it was replaced or deleted.
	Retention = 30 * 24 * time.Hour
)

// Ref is the part of a file's record that refers to the content.
type Ref struct {
	ContentID string `dynamodbav:"content"` // a rename does not change it
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

// ErrCorrupt reports chunks that Pack did not produce. Join does not detect all corruption: compare the content with
// its hash.
var ErrCorrupt = errors.New("content: corrupt chunks")

// ErrTooLarge reports content of more than MaxBytes.
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
	packed := encoder.EncodeAll(data, append(make([]byte, 0, len(data)/2+64), formatZstd))
	if len(packed) > len(data) {
		packed = append(append(make([]byte, 0, len(data)+1), formatRaw), data...)
	}
	return slices.Collect(slices.Chunk(packed, MaxChunk)), nil
}

// Join returns the data from which Pack made the chunks. It uses little more than MaxBytes of memory, even if the
// chunks are corrupt. Error: ErrCorrupt.
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

// sharedEncoder and sharedDecoder are shared by all requests. Each has a fixed number of workers, so memory does not
// grow with the number of concurrent calls.
var (
	sharedEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(workers), zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(MaxBytes), zstd.WithEncoderCRC(false)) // the file's record has the SHA-256
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

const workers = 2
