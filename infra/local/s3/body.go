package s3

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // entity tags are MD5
	"crypto/sha1" //nolint:gosec // a checksum that clients may choose
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxUpload is the maximum size of an uploaded body, and maxDocument the maximum size of an XML document.
	maxUpload   = 5 << 30
	maxDocument = 2 << 20
)

// receive stores the body of a request in a file. It returns an error if the body does not match the length, hash or
// checksum in the headers.
func (q *request) receive() (c content, err error) {
	name, err := q.store.files.write(func(to io.Writer) error {
		c, err = q.copyBody(to, maxUpload)
		return err
	})
	c.File = name
	return c, err
}

// bodyLength returns the number of bytes that the decoded body must have.
func (q *request) bodyLength(limit int64) (int64, error) {
	length, err := q.ContentLength, error(nil)
	if q.isChunked() {
		if length, err = strconv.ParseInt(q.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64); err != nil {
			length = -1
		}
	}
	switch isKnown := slices.Contains([]string{streamSigned, streamSignedTrailer, streamUnsignedTrailer}, q.payload); {
	case q.isChunked() && !isKnown:
		return 0, errUnsupported.with("The local platform does not support x-amz-content-sha256: %s", q.payload)
	case !q.isChunked() && q.Header.Get("X-Amz-Trailer") != "":
		return 0, errInvalidRequest.with("The value of x-amz-content-sha256 does not allow trailers")
	case length < 0:
		return 0, errNoLength
	case length > limit:
		return 0, errTooLarge
	}
	return length, nil
}

// copyBody copies the decoded body, and checks its length, hash, Content-MD5 and checksum. The content that it returns
// has no file.
func (q *request) copyBody(to io.Writer, limit int64) (c content, err error) {
	want, err := q.expectedChecksum()
	if err != nil {
		return c, err
	}
	if want.algorithm == nil {
		want.algorithm = defaultAlgorithm
	}
	wantMD5, err := base64.StdEncoding.DecodeString(q.Header.Get("Content-Md5"))
	if err != nil || len(wantMD5) > 0 && len(wantMD5) != md5.Size {
		return c, errInvalidDigest
	}
	length, err := q.bodyLength(limit)
	if err != nil {
		return c, err
	}
	md5Sum, sha256Sum, checksumSum := md5.New(), sha256.New(), want.algorithm.new() //nolint:gosec // as above
	writers := []io.Writer{md5Sum, checksumSum}
	isHashed := !q.isChunked() && q.payload != unsignedPayload
	if isHashed {
		writers = append(writers, sha256Sum)
	}
	writers = append(writers, to) // the last one: with the race detector, Pebble's memory file system changes the buffer
	if err := q.copyExactly(io.MultiWriter(writers...), length, &want); err != nil {
		return c, err
	}
	got := base64.StdEncoding.EncodeToString(checksumSum.Sum(nil))
	switch {
	case len(wantMD5) > 0 && !bytes.Equal(wantMD5, md5Sum.Sum(nil)):
		return c, errBadDigest.with("The Content-MD5 you specified did not match what we received.")
	case isHashed && hex.EncodeToString(sha256Sum.Sum(nil)) != q.payload:
		return c, errContentHash
	case want.isGiven && want.value != got:
		return c, errBadDigest.with("The %s you specified did not match the calculated checksum.", want.algorithm.name)
	}
	return content{
		Size: length, ETag: hex.EncodeToString(md5Sum.Sum(nil)), Modified: q.now,
		Checksum: checksum{want.algorithm.name, got},
	}, nil
}

// copyExactly copies the decoded body, which must have length bytes. It completes want if the checksum follows the
// body.
func (q *request) copyExactly(to io.Writer, length int64, want *expected) error {
	if q.isChunked() {
		trailers, err := q.copyChunks(to, length)
		if want.isTrailing {
			want.value = trailers[want.algorithm.trailer()]
		}
		return err
	}
	size, err := io.Copy(to, io.LimitReader(q.Body, length+1))
	if err == nil && size != length {
		return errIncomplete
	}
	return truncated(err)
}

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

func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errIncomplete
	}
	return err
}

// algorithm is a checksum algorithm of S3.
type algorithm struct {
	name string
	new  func() hash.Hash
}

// nvme is the polynomial of CRC64NVME, in the bit order of hash/crc64.
const nvme = 0x9a6c9329ac4bc9b5

var algorithms = []*algorithm{
	{"CRC64NVME", func() hash.Hash { return crc64.New(crc64.MakeTable(nvme)) }},
	{"CRC32", func() hash.Hash { return crc32.NewIEEE() }},
	{"CRC32C", func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }},
	{"SHA256", sha256.New},
	{"SHA1", sha1.New},
}

// defaultAlgorithm is the algorithm of an object whose client chose none.
var defaultAlgorithm = algorithms[0]

// algorithmNamed returns the algorithm with a name, or nil if there is none. The case does not matter.
func algorithmNamed(name string) *algorithm {
	i := slices.IndexFunc(algorithms, func(a *algorithm) bool { return strings.EqualFold(a.name, name) })
	if i < 0 {
		return nil
	}
	return algorithms[i]
}

func (a *algorithm) header() string { return http.CanonicalHeaderKey(a.trailer()) }

func (a *algorithm) trailer() string { return "x-amz-checksum-" + strings.ToLower(a.name) }

// fullObject is the type of a checksum of all bytes of an object.
const fullObject = "FULL_OBJECT"

type checksum struct {
	Algorithm string `json:"algorithm,omitzero"`
	Value     string `json:"value,omitzero"`
}

func (c checksum) set(header http.Header) {
	header.Set("X-Amz-Checksum-"+c.Algorithm, c.Value)
	header.Set("X-Amz-Checksum-Type", fullObject)
}

// expected is the checksum of the body according to the request. If the checksum is a trailer, value is set after the
// body was read.
type expected struct {
	algorithm           *algorithm // nil if the request has none
	value               string
	isGiven, isTrailing bool
}

// expectedChecksum reads x-amz-checksum-…, x-amz-trailer and x-amz-sdk-checksum-algorithm.
func (q *request) expectedChecksum() (e expected, err error) {
	trailer, announced := q.Header.Get("X-Amz-Trailer"), q.Header.Get("X-Amz-Sdk-Checksum-Algorithm")
	for _, a := range algorithms {
		value, isTrailing := q.Header.Get(a.header()), strings.EqualFold(trailer, a.trailer())
		raw, err := base64.StdEncoding.DecodeString(value)
		switch {
		case value == "" && !isTrailing:
			continue
		case e.isGiven:
			return e, errInvalidRequest.with("Expecting a single x-amz-checksum- header.")
		case !isTrailing && (err != nil || len(raw) != a.new().Size()):
			return e, errInvalidRequest.with("Value for %s header is invalid.", a.trailer())
		}
		e = expected{a, value, true, isTrailing}
	}
	switch {
	case !e.isGiven && trailer != "":
		err = errInvalidRequest.with("The value specified in the x-amz-trailer header is not supported")
	case !e.isGiven && announced != "":
		err = errInvalidRequest.with("x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* " +
			"or x-amz-trailer headers were found.")
	case announced != "" && algorithmNamed(announced) != e.algorithm:
		err = errInvalidRequest.with("Value for x-amz-sdk-checksum-algorithm header is invalid.")
	}
	return e, err
}
