package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

// packedContent is a content that is ready to be stored. It is packed once, however often the save is attempted.
type packedContent struct {
	contentID string
	encoding  Encoding
	size      int
	sha256    []byte
	chunks    [][]byte
}

// The rules that a content can break.
const (
	ruleBase64 = "must be base64 with padding (RFC 4648, section 4)"
	ruleSize   = "must be at most 1 MiB, decoded"
)

// decodeContent returns the bytes of a content as a client sent it, or the rule that it breaks.
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

// packContent prepares a content that decodeContent returned to be stored under contentID.
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

// isContentOf reports whether the file has the same bytes already. The encoding does not matter: text that a client
// read as base64 and saves as base64 is still the same text.
func (c *packedContent) isContentOf(f *File) bool {
	return c.size == f.Size && bytes.Equal(c.sha256, f.SHA256)
}

// errMissingChunks reports that the content of a file was replaced or deleted after its record was read.
var errMissingChunks = fmt.Errorf("%w: chunks of a content are missing", db.ErrStale)

// join returns the file's content from the chunks that were read. Error: errMissingChunks. Chunks that do not have the
// content that was saved are an internal error.
func (f File) join(chunks [][]byte) ([]byte, error) {
	if len(chunks) != f.Chunks {
		return nil, errMissingChunks
	}
	data, err := content.Join(chunks)
	if err != nil {
		return nil, fmt.Errorf("file: content %s: %w", f.ContentID, err)
	}
	if sum := sha256.Sum256(data); len(data) != f.Size || !bytes.Equal(sum[:], f.SHA256) {
		return nil, fmt.Errorf("file: content %s is not what was saved: %d bytes, SHA-256 %x", f.ContentID, len(data), sum)
	}
	return data, nil
}

func toBase64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
