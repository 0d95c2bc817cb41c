package s3

import (
	"bytes"
	"cmp"
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

// bodyLength returns the number of bytes that the body must have.
func (q *request) bodyLength(limit int64) (int64, error) {
	switch {
	case strings.HasPrefix(q.payload, "STREAMING-"): // the coding aws-chunked
		return 0, errUnsupported.with("The local platform does not support x-amz-content-sha256: %s", q.payload)
	case q.ContentLength < 0:
		return 0, errNoLength
	case q.ContentLength > limit:
		return 0, errTooLarge
	}
	return q.ContentLength, nil
}

// copyBody copies the body, and checks its length, hash, Content-MD5 and checksum. The content that it returns has no
// file.
func (q *request) copyBody(to io.Writer, limit int64) (c content, err error) {
	want, err := q.expectedChecksum()
	if err != nil {
		return c, err
	}
	algorithm := cmp.Or(want.algorithm, defaultAlgorithm)
	wantMD5, err := base64.StdEncoding.DecodeString(q.Header.Get("Content-Md5"))
	if err != nil || len(wantMD5) > 0 && len(wantMD5) != md5.Size {
		return c, errInvalidDigest
	}
	length, err := q.bodyLength(limit)
	if err != nil {
		return c, err
	}
	md5Sum, sha256Sum, checksumSum := md5.New(), sha256.New(), algorithm.new() //nolint:gosec // as above
	writers := []io.Writer{md5Sum, checksumSum}
	isHashed := q.payload != unsignedPayload
	if isHashed {
		writers = append(writers, sha256Sum)
	}
	writers = append(writers, to) // the last one: with the race detector, Pebble's memory file system changes the buffer
	size, err := io.Copy(io.MultiWriter(writers...), io.LimitReader(q.Body, length+1))
	if errors.Is(err, io.ErrUnexpectedEOF) || err == nil && size != length {
		err = errIncomplete
	}
	if err != nil {
		return c, err
	}
	got := base64.StdEncoding.EncodeToString(checksumSum.Sum(nil))
	switch {
	case len(wantMD5) > 0 && !bytes.Equal(wantMD5, md5Sum.Sum(nil)):
		return c, errBadDigest.with("The Content-MD5 you specified did not match what we received.")
	case isHashed && hex.EncodeToString(sha256Sum.Sum(nil)) != q.payload:
		return c, errContentHash
	case want.algorithm != nil && want.value != got:
		return c, errBadDigest.with("The %s you specified did not match the calculated checksum.", algorithm.name)
	}
	return content{
		Size: length, ETag: hex.EncodeToString(md5Sum.Sum(nil)), Modified: q.now,
		Checksum: checksum{algorithm.name, got},
	}, nil
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

func (a *algorithm) header() string { return "x-amz-checksum-" + strings.ToLower(a.name) }

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

// expected is the checksum of the body according to the request.
type expected struct {
	algorithm *algorithm // nil if the request has none
	value     string
}

// expectedChecksum reads x-amz-checksum-… and x-amz-sdk-checksum-algorithm.
func (q *request) expectedChecksum() (e expected, err error) {
	announced := q.Header.Get("X-Amz-Sdk-Checksum-Algorithm")
	for _, a := range algorithms {
		value := q.Header.Get(a.header())
		raw, err := base64.StdEncoding.DecodeString(value)
		switch {
		case value == "":
			continue
		case e.algorithm != nil:
			return e, errInvalidRequest.with("Expecting a single x-amz-checksum- header.")
		case err != nil || len(raw) != a.new().Size():
			return e, errInvalidRequest.with("Value for %s header is invalid.", a.header())
		}
		e = expected{a, value}
	}
	switch {
	case e.algorithm == nil && announced != "":
		err = errInvalidRequest.with("x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* " +
			"headers were found.")
	case announced != "" && algorithmNamed(announced) != e.algorithm:
		err = errInvalidRequest.with("Value for x-amz-sdk-checksum-algorithm header is invalid.")
	}
	return e, err
}
