// Package content is how the bytes of a file are kept: compressed where that helps and cut into chunks that fit an item.
// It is pure: where chunks are stored, and for how long, is not known here.
package content

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// MaxBytes is the size of the largest content.
	MaxBytes = 1 << 20
	// MaxChunk is the size of the largest chunk: an item of DynamoDB holds 400 KB with its names and keys.
	MaxChunk = 350 << 10
	// MaxChunks is the largest number of chunks of a content: bytes that don't shrink, and the mark.
	MaxChunks = (MaxBytes + MaxChunk) / MaxChunk
)

// The first byte of a packed content says how the rest is to be read; part of the data format.
const (
	markRaw  = 0
	markZstd = 1
)

// ErrDamaged says: bytes that Pack has not made. Not all damage shows here: who keeps a content keeps its hash beside it.
var ErrDamaged = errors.New("content: damaged")

// ErrTooLarge says: more than MaxBytes.
var ErrTooLarge = errors.New("content: larger than 1 MiB")

// Pack makes the chunks of a content, each of at most MaxChunk bytes; none of an empty one. Error: ErrTooLarge.
func Pack(data []byte) ([][]byte, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if len(data) > MaxBytes {
		return nil, ErrTooLarge
	}
	encoder, err := theEncoder()
	if err != nil {
		return nil, err
	}
	packed := encoder.EncodeAll(data, append(make([]byte, 0, len(data)/2+64), markZstd))
	if len(packed) > len(data) {
		packed = append(append(make([]byte, 0, len(data)+1), markRaw), data...)
	}
	return slices.Collect(slices.Chunk(packed, MaxChunk)), nil
}

// Join is the content of the chunks that Pack made. Whatever they say, it takes no more than MaxBytes and a little memory.
// Error: ErrDamaged.
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
	decoder, err := theDecoder()
	if err != nil {
		return nil, err
	}
	data, err := decoder.DecodeAll(body, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return data, nil
}

// theEncoder and theDecoder serve everybody: both keep a pool of as many workers as told, each used for one content at a
// time, so that memory stays within bounds however many requests there are. A function works on one at a time.
var (
	theEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(workers), zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(MaxBytes), zstd.WithEncoderCRC(false)) // the content's SHA-256 is kept beside it
		if err != nil {
			return nil, fmt.Errorf("content: encoder: %w", err)
		}
		return encoder, nil
	})
	theDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(workers), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxBytes), zstd.WithDecoderMaxWindow(MaxBytes))
		if err != nil {
			return nil, fmt.Errorf("content: decoder: %w", err)
		}
		return decoder, nil
	})
)

const workers = 2
