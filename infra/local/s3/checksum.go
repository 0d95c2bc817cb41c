package s3

import (
	"crypto/sha1" //nolint:gosec // a checksum that clients may choose
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"slices"
	"strings"
)

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

// header returns the name of the header that has the checksum.
func (a *algorithm) header() string { return http.CanonicalHeaderKey(a.trailer()) }

// trailer returns the name of the trailer that has the checksum.
func (a *algorithm) trailer() string { return "x-amz-checksum-" + strings.ToLower(a.name) }

// fullObject is the type of a checksum of all bytes of an object.
const fullObject = "FULL_OBJECT"

// checksum is the checksum of a content, in base64.
type checksum struct {
	Algorithm string `json:"algorithm,omitzero"`
	Value     string `json:"value,omitzero"`
}

// set adds the checksum to the headers of a response.
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
