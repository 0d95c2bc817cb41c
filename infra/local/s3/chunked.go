package s3

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
)

// This file decodes bodies in the coding aws-chunked, whose chunks and trailers may be signed:
// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html

// Values of x-amz-content-sha256 for a body in this coding.
const (
	streamSigned          = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	streamSignedTrailer   = streamSigned + "-TRAILER"
	streamUnsignedTrailer = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
)

const (
	// emptySHA256 is the hash of an empty text.
	emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	// trailerSignature is the trailer that has the signature of the other trailers.
	trailerSignature = "x-amz-trailer-signature"
	// maxTrailers limits the number of lines after the last chunk.
	maxTrailers = 16
)

var errChunk = errInvalidRequest.with("The body is not valid in the coding aws-chunked.")

// isChunked reports whether the body is in the coding aws-chunked.
func (q *request) isChunked() bool { return strings.HasPrefix(q.payload, "STREAMING-") }

// chunks decodes a body. Its methods return an error if a signature does not match or the body is not valid.
type chunks struct {
	*request

	body     *bufio.Reader
	previous string            // the signature of the previous chunk, or of the request
	trailers map[string]string // by their names in lower case
}

// copyChunks decodes the body, which must have length bytes, and returns its trailers.
func (q *request) copyChunks(to io.Writer, length int64) (trailers map[string]string, err error) {
	c := chunks{q, bufio.NewReader(q.Body), q.seed, map[string]string{}}
	for size := int64(-1); size != 0; length -= size {
		if size, err = c.copyChunk(to, length); err != nil {
			return nil, err
		}
	}
	if length != 0 {
		return nil, errIncomplete
	}
	return c.trailers, c.readTrailers()
}

// copyChunk decodes a chunk of at most limit bytes and returns its size, which is 0 for the last one.
func (c *chunks) copyChunk(to io.Writer, limit int64) (size int64, err error) {
	line, err := c.line()
	if err != nil {
		return 0, err
	}
	digits, extension, _ := strings.Cut(line, ";")
	size, err = strconv.ParseInt(digits, 16, 64)
	switch {
	case err != nil || size < 0:
		return 0, errChunk
	case size > limit:
		return 0, errIncomplete
	}
	hash := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(hash, to), c.body, size); err != nil {
		return 0, truncated(err)
	}
	if size > 0 {
		if line, err := c.line(); err != nil || line != "" {
			return 0, errors.Join(err, errChunk)
		}
	}
	signature := strings.TrimPrefix(extension, "chunk-signature=")
	return size, c.verify("AWS4-HMAC-SHA256-PAYLOAD", signature, emptySHA256, hex.EncodeToString(hash.Sum(nil)))
}

// verify checks a signature in the chain of signatures.
func (c *chunks) verify(algorithm, signature string, hashes ...string) error {
	if c.payload == streamUnsignedTrailer {
		return nil
	}
	want := c.signer.sign(algorithm, append([]string{c.previous}, hashes...)...)
	if !hmac.Equal([]byte(want), []byte(signature)) {
		return errSignature
	}
	c.previous = want
	return nil
}

// readTrailers reads the lines after the last chunk, until an empty line.
func (c *chunks) readTrailers() error {
	signed := ""
	for range maxTrailers {
		line, err := c.line()
		switch {
		case err != nil:
			return err
		case line == "" && c.payload == streamSigned:
			return nil
		case line == "":
			return c.verify("AWS4-HMAC-SHA256-TRAILER", c.trailers[trailerSignature], hexSHA256(signed))
		}
		name, value, found := strings.Cut(line, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !found || c.payload == streamSigned {
			return errChunk
		}
		if c.trailers[name] = value; name != trailerSignature {
			signed += name + ":" + value + "\n"
		}
	}
	return errChunk
}

// line reads a line and returns it without the line break. A line that is longer than the reader's buffer is an error.
func (c *chunks) line() (string, error) {
	line, err := c.body.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", errChunk
	case err != nil:
		return "", truncated(err)
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// truncated returns the error of a body that ends too early.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errIncomplete
	}
	return err
}
