package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

// packedContent is the content of a file, compressed and ready to be stored. It is packed once, before the first
// attempt to save it.
type packedContent struct {
	contentID string
	encoding  Encoding
	size      int
	sha256    []byte
	chunks    [][]byte
}

// Validation messages for content.
const (
	ruleBase64 = "must be base64 with padding (RFC 4648, section 4)"
	ruleSize   = "must be at most 1 MiB after decoding"
)

// decodeContent decodes content that a client sent. It returns the rule that the content breaks, or "".
func decodeContent(text string, encoding Encoding) (data []byte, rule string) {
	data = []byte(text)
	if encoding == Base64 {
		var err error
		if data, err = content.FromBase64(text); err != nil {
			return nil, ruleBase64
		}
	}
	if len(data) > content.MaxBytes {
		return nil, ruleSize
	}
	return data, ""
}

// packContent compresses data, so that it can be stored under contentID. data is the result of decodeContent.
func packContent(contentID string, data []byte, encoding Encoding) (*packedContent, error) {
	chunks, err := content.Pack(data)
	if err != nil {
		return nil, err
	}
	if encoding == "" {
		encoding = UTF8
	}
	sum := sha256.Sum256(data)
	return &packedContent{contentID: contentID, encoding: encoding, size: len(data), sha256: sum[:], chunks: chunks}, nil
}

// equals reports whether a file has the same bytes. It ignores the encoding: if a client reads a file as text and saves
// the same bytes as base64, the content is equal.
func (c *packedContent) equals(f *File) bool {
	return c.size == f.Size && bytes.Equal(c.sha256, f.SHA256)
}

// errMissingChunks reports that the content of a file was deleted after the file's record was read, because the version
// expired or the project was deleted.
var errMissingChunks = fmt.Errorf("%w: chunks of a file are missing", db.ErrStale)

// join returns the file's content from its chunks. Error: errMissingChunks. If the content does not match the size and
// the hash in the file's record, join returns an internal error.
func (f File) join(chunks [][]byte) ([]byte, error) {
	if len(chunks) != f.Chunks {
		return nil, errMissingChunks
	}
	data, err := content.Join(chunks)
	if err != nil {
		return nil, fmt.Errorf("file: content %s: %w", f.ContentID, err)
	}
	if sum := sha256.Sum256(data); len(data) != f.Size || !bytes.Equal(sum[:], f.SHA256) {
		return nil, fmt.Errorf("file: content %s does not match its record: %d bytes, SHA-256 %x",
			f.ContentID, len(data), sum)
	}
	return data, nil
}

func toBase64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
