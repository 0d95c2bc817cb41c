package file

import (
	"bytes"
	"crypto/sha256"

	"devplatform/shared/project/content"
)

// packedContent is the content of a file, compressed and ready to be stored. It is packed once, before the first
// attempt to save it.
type packedContent struct {
	contentID string
	encoding  Encoding
	// contentType is the media type that the client set for an uploaded file, or "".
	contentType string
	size        int
	sha256      []byte
	// data is the chunk if format is empty, otherwise the object. It is nil if the content is empty.
	data   []byte
	format content.Format
	// isStored means that an earlier attempt of the request has stored the object, or that the client has uploaded it.
	isStored bool
}

// ref returns the reference to the content for the file's record.
func (c *packedContent) ref() content.Ref {
	ref := content.Ref{ContentID: c.contentID, ObjectFormat: c.format}
	if c.format == "" && c.data != nil {
		ref.Chunks = 1
	}
	return ref
}

// Validation messages for content.
const (
	ruleBase64 = "must be base64 with padding (RFC 4648, section 4)"
	ruleSize   = "must be at most 1 MiB after decoding; announce an upload for a larger file"
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
	packed, format, err := content.PackFile(data)
	if err != nil {
		return nil, err
	}
	if encoding == "" {
		encoding = UTF8
	}
	sum := sha256.Sum256(data)
	return &packedContent{
		contentID: contentID, encoding: encoding, size: len(data), sha256: sum[:],
		data: packed, format: format,
	}, nil
}

// equals reports whether a file has the same bytes. It ignores the encoding: if a client reads a file as text and saves
// the same bytes as base64, the content is equal.
func (c *packedContent) equals(f *File) bool {
	return c.size == f.Size && bytes.Equal(c.sha256, f.SHA256)
}
