// Package content defines how the bytes of a file are stored: compressed if that makes them smaller, and cut into
// chunks that fit into an item. It reads and writes nothing itself.
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
	// MaxBytes is the size of the largest content.
	MaxBytes = 1 << 20
	// MaxChunk is the size of the largest chunk: a DynamoDB item holds 400 KB, attribute names and keys included.
	MaxChunk = 350 << 10
	// MaxChunks is the largest number of chunks of a content: bytes that cannot be compressed, and the mark.
	MaxChunks = (MaxBytes + MaxChunk) / MaxChunk
	// Retention is how long a version of a file, and its content, is kept after it was replaced.
	Retention = 30 * 24 * time.Hour
)

// Ref is the part of a stored record that names the record's content.
type Ref struct {
	ContentID string `dynamodbav:"content"` // kept over renames
	Chunks    int    `dynamodbav:"chunks"`
}

// Keys returns the keys of the content's chunks in the contents table, in order. It returns none for a Ref that cannot
// be valid.
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

// The first byte of a packed content says how the rest is encoded. It is part of the data format.
const (
	markRaw  = 0
	markZstd = 1
)

// ErrDamaged reports bytes that Pack did not produce. It does not detect all damage: compare the content with its hash.
var ErrDamaged = errors.New("content: damaged")

// ErrTooLarge reports a content of more than MaxBytes.
var ErrTooLarge = errors.New("content: larger than 1 MiB")

// Pack returns the chunks of a content, each of at most MaxChunk bytes. An empty content has none. Error: ErrTooLarge.
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
	packed := encoder.EncodeAll(data, append(make([]byte, 0, len(data)/2+64), markZstd))
	if len(packed) > len(data) {
		packed = append(append(make([]byte, 0, len(data)+1), markRaw), data...)
	}
	return slices.Collect(slices.Chunk(packed, MaxChunk)), nil
}

// Join returns the content of the chunks that Pack returned. Its memory is limited to little more than MaxBytes, even
// if the chunks are damaged. Error: ErrDamaged.
func Join(chunks [][]byte) ([]byte, error) {
	if len(chunks) == 0 {
		return []byte{}, nil
	}
	packed := slices.Concat(chunks...)
	if len(packed) == 0 {
		return nil, fmt.Errorf("%w: no mark", ErrDamaged)
	}
	mark, body := packed[0], packed[1:]
	switch {
	case mark == markRaw && len(body) <= MaxBytes:
		return body, nil
	case mark != markZstd:
		return nil, fmt.Errorf("%w: mark %d, %d bytes", ErrDamaged, mark, len(body))
	}
	decoder, err := sharedDecoder()
	if err != nil {
		return nil, err
	}
	data, err := decoder.DecodeAll(body, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return data, nil
}

// sharedEncoder and sharedDecoder are shared by all requests. Each has a fixed number of workers, so memory does not
// grow with the number of requests. A function handles one request at a time.
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
