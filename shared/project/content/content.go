// Package content defines how bytes are stored: compressed if that makes them smaller. The content of a file is an
// object in a bucket, or one chunk, which fits into a DynamoDB item (PackFile). A message of a conversation is split
// into chunks (Pack). The package does no I/O.
package content

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"devplatform/shared/db"
	"devplatform/shared/id"
)

const (
	// MaxBytes is the maximum size of content that a function receives, returns or compresses. Larger content is only
	// uploaded and downloaded directly, as an object of the format Raw.
	MaxBytes = 1 << 20
	// MaxUpload is the maximum size of the content of a file.
	MaxUpload = 25 << 20
	// MaxChunk is the maximum size of a chunk. A DynamoDB item can have at most 400 KB, including attribute names
	// and keys.
	MaxChunk = 350 << 10
	// MaxChunks is the maximum number of chunks of content. Packed content has at most MaxBytes+1 bytes, because the
	// format takes one byte. The division rounds up.
	MaxChunks = (MaxBytes + MaxChunk) / MaxChunk
	// MaxInline is the maximum size of packed content that is stored in DynamoDB. Larger content is an object in S3.
	//
	// List prices of us-east-1, for a million: $0.625 for write units (1 KB), $0.125 for read units (4 KB), $5.00 for
	// PUT, $0.40 for GET. Content of n units is written in a transaction (2n), and written again when it is replaced, to
	// set its expiry (n). With r reads before that, it costs 3n × $0.625 + r × n/4 (rounded up) × $0.125 in DynamoDB, and
	// $5.00 + r × $0.40 in S3:
	//
	//	units   DynamoDB           object             the object is cheaper
	//	2       $3.75 + r × 0.125  $5.00 + r × 0.40   never
	//	3       $5.63 + r × 0.125  $5.00 + r × 0.40   up to 2 reads
	//	4       $7.50 + r × 0.125  $5.00 + r × 0.40   up to 9 reads
	//	5       $9.38 + r × 0.250  $5.00 + r × 0.40   up to 29 reads
	//	8       $15.00 + r × 0.250 $5.00 + r × 0.40   up to 66 reads
	//	9       $16.88 + r × 0.375 $5.00 + r × 0.40   up to 474 reads
	//	13      $24.38 + r × 0.500 $5.00 + r × 0.40   always
	//
	// Both services cost more in eu-central-1 (PUT $5.40, GET $0.43), and the limit would be the same. Up to 4 units, one
	// read unit is enough, and most files are read more than nine times before they change. A read from DynamoDB is also
	// faster, and one call reads 100 files. So an item of 4 units (4,096 bytes) is the limit. Up to 96 bytes of it are
	// keys, attribute names and the expiry.
	MaxInline = 4000
	// Retention is the time for which a version of a file and its content are kept after the version was replaced or
	// deleted.
	Retention = 30 * 24 * time.Hour
)

// Ref refers to the stored content of a file. It is part of the file's record.
type Ref struct {
	ContentID string `dynamodbav:"content"` // does not change when the file is renamed
	// Chunks is the number of chunks in the contents table: 1, or 0 if the content is empty or an object.
	Chunks int `dynamodbav:"chunks"`
	// ObjectFormat is the format of the content's object. It is empty if there is no object.
	ObjectFormat Format `dynamodbav:"object,omitempty"`
}

// Format is the format of an object.
type Format string

// The formats of objects. These values are part of the data format.
const (
	Raw  Format = "raw"  // the bytes of the content
	Zstd Format = "zstd" // a zstd frame
)

// formatOfByte maps the first byte of packed content to the format of an object.
var formatOfByte = map[byte]Format{formatRaw: Raw, formatZstd: Zstd}

// ObjectPrefix is the prefix of the keys of all objects with contents. The keys have the form
// contents/<project ID>/<content ID>.
const ObjectPrefix = "contents/"

// ProjectObjects returns the prefix of the keys of a project's objects. It returns "" if the ID is not valid.
func ProjectObjects(projectID string) string {
	if !id.Project.Valid(projectID) {
		return ""
	}
	return ObjectPrefix + projectID + "/"
}

// ObjectKey returns the key of the content's object. It returns "" if a part is not valid.
func (r Ref) ObjectKey(projectID string) string {
	prefix := ProjectObjects(projectID)
	if prefix == "" || r.ContentID == "" || strings.ContainsAny(r.ContentID, "/\x00") {
		return ""
	}
	return prefix + r.ContentID
}

// ParseObjectKey returns the parts of a key that ObjectKey returned. ok is false for any other key.
func ParseObjectKey(key string) (projectID, contentID string, ok bool) {
	rest, _ := strings.CutPrefix(key, ObjectPrefix)
	projectID, contentID, _ = strings.Cut(rest, "/")
	return projectID, contentID, key != "" && Ref{ContentID: contentID}.ObjectKey(projectID) == key
}

// ChunkKey returns the key of the content's chunk in the contents table. It returns the zero Key if the content has no
// chunk, or if the Ref is not valid.
func (r Ref) ChunkKey(projectID string) db.Key {
	if r.Chunks != 1 {
		return db.Key{}
	}
	return db.ChunkKey(projectID, r.ContentID)
}

// The first byte of packed content is its format. These values are part of the data format.
const (
	formatRaw  = 0
	formatZstd = 1
)

// ErrCorrupt is the error for chunks or an object that Pack or PackFile cannot have produced. Join and Open do not
// detect every corruption, so callers must compare the content with its hash.
var ErrCorrupt = errors.New("content: corrupt")

// ErrTooLarge is the error for content of more than MaxBytes.
var ErrTooLarge = errors.New("content: larger than 1 MiB")

// Pack compresses data and splits it into chunks of at most MaxChunk bytes. It returns no chunks for empty data.
// Error: ErrTooLarge.
func Pack(data []byte) ([][]byte, error) {
	packed, err := compress(data)
	return slices.Collect(slices.Chunk(packed, MaxChunk)), err
}

// PackFile compresses data. If the result has at most MaxInline bytes, it is a chunk, or nil for empty data, and the
// format is "". Otherwise it is an object of the returned format. Error: ErrTooLarge.
func PackFile(data []byte) (packed []byte, format Format, err error) {
	if packed, err = compress(data); len(packed) > MaxInline {
		return packed[1:], formatOfByte[packed[0]], err
	}
	return packed, "", err
}

// compress returns the format byte and the data, compressed if that makes it smaller. It returns nil for empty data.
func compress(data []byte) ([]byte, error) {
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
	return packed, nil
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
	return Open(formatOfByte[packed[0]], packed[1:])
}

// Open returns the data of an object. The data has at most MaxBytes, even if the object is corrupt. Error: ErrCorrupt.
func Open(format Format, body []byte) ([]byte, error) {
	switch {
	case format == Raw && len(body) <= MaxBytes:
		return body, nil
	case format != Zstd:
		return nil, fmt.Errorf("%w: format %q, %d bytes", ErrCorrupt, format, len(body))
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
