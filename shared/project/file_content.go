package project

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"

	"devplatform/shared/project/content"
)

// fileContent is a content to be saved, packed already: that is done once, however often its transaction meets another.
type fileContent struct {
	encoding Encoding
	size     int
	sha256   []byte
	chunks   [][]byte
}

// The rules that a content can break.
const (
	ruleBase64 = "must be base64 with padding (RFC 4648, section 4)"
	ruleSize   = "must be at most 1 MiB, decoded"
)

// decodeContent is the bytes of a content as it came. The answer's rule is not "" if it is too large, or not what its
// encoding says.
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

// packContent makes a content, which decodeContent let through, ready to be saved.
func packContent(data []byte, encoding Encoding) (*fileContent, error) {
	chunks, err := content.Pack(data)
	if err != nil {
		return nil, err
	}
	if encoding == "" {
		encoding = UTF8
	}
	sum := sha256.Sum256(data)
	return &fileContent{encoding: encoding, size: len(data), sha256: sum[:], chunks: chunks}, nil
}

// isContentOf reports whether a file has these bytes already, however they were sent: what was read as base64 and is saved
// again so is still the same text.
func (c *fileContent) isContentOf(f fileRecord) bool {
	return c.size == f.Size && bytes.Equal(c.sha256, f.SHA256)
}

func toBase64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
