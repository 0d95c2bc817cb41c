package site

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// This file decides how a file is sent: in which encoding, and which part of it.

// encodings are the client's preferences of Accept-Encoding: values from 0, which means not acceptable, to 1.
type encodings struct{ gzip, identity float64 }

// parseEncodings parses the values of Accept-Encoding (RFC 9110 §12.5.3). If the header does not name an encoding, the
// value of "*" applies to it. Without that, gzip is not acceptable, and identity is acceptable but the last choice.
func parseEncodings(values []string) encodings {
	const lastChoice = 0.0005
	if len(values) == 0 {
		return encodings{identity: lastChoice}
	}
	named := map[string]float64{}
	for element := range strings.SplitSeq(strings.Join(values, ","), ",") {
		coding, parameters, _ := strings.Cut(element, ";")
		coding = strings.ToLower(strings.TrimSpace(coding))
		named[strings.TrimPrefix(coding, "x-")] = quality(parameters)
	}
	others, hasOthers := named["*"]
	accepted := encodings{gzip: others, identity: lastChoice}
	if hasOthers {
		accepted.identity = min(others, lastChoice)
	}
	if q, ok := named["gzip"]; ok {
		accepted.gzip = q
	}
	if q, ok := named["identity"]; ok {
		accepted.identity = q
	}
	return accepted
}

// quality returns the q-value in the parameters of an element, 1 if there is none, or 0 if it is not valid.
func quality(parameters string) float64 {
	name, value, found := strings.Cut(parameters, "=")
	if !found || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(q >= 0 && q <= 1) { // also rejects NaN
		return 0
	}
	return q
}

// part is the response to a request for a file: the status, and the part of the file that the body contains.
type part struct {
	status        int
	start, length int64
}

// negotiate evaluates the conditions and the range of a request for a file with a size, and sets the headers of the
// response. The ETag must be set. net/http computes the response to a HEAD request, for which it reads no content.
func negotiate(header http.Header, r *http.Request, size int64) part {
	head := r.WithContext(r.Context()) // a copy
	head.Method = http.MethodHead
	isCompressed := header.Get("Content-Encoding") != ""
	if r.Header["Range"] != nil && (isCompressed || !isSingleRange(r.Header.Get("Range"))) {
		head.Header = r.Header.Clone()
		head.Header.Del("Range")
	}
	contentType := header.Get("Content-Type")
	response, content := &headResponse{header: header}, &sizedContent{size: size}
	http.ServeContent(response, head, "", time.Time{}, content)
	if isCompressed { // a range would not be a part of this body
		header.Del("Accept-Ranges")
	}
	p := part{status: response.status, start: content.offset, length: size}
	if p.status == http.StatusPartialContent {
		p.length, _ = strconv.ParseInt(header.Get("Content-Length"), 10, 64)
		if p.length == 0 { // "bytes=-0" selects nothing
			p.status = http.StatusRequestedRangeNotSatisfiable
			header.Set("Content-Range", "bytes */"+strconv.FormatInt(size, 10))
		}
	}
	// API Gateway streams with chunks, and renames a Content-Length that the function sets.
	header.Del("Content-Length")
	if p.status == http.StatusNotModified { // else API Gateway adds a type, which caches might store with the file
		header.Set("Content-Type", contentType)
	}
	return p
}

// isSingleRange reports whether a Range header selects one range of bytes. Other values are ignored: another unit
// because the server does not know it, several ranges because each of them would need a read of its own.
func isSingleRange(value string) bool {
	return strings.HasPrefix(value, "bytes=") && !strings.Contains(value, ",")
}

// headResponse records the status of a response without a body.
type headResponse struct {
	header http.Header
	status int
}

func (h *headResponse) Header() http.Header         { return h.header }
func (h *headResponse) WriteHeader(status int)      { h.status = status }
func (h *headResponse) Write(p []byte) (int, error) { return len(p), nil }

// sizedContent is an io.ReadSeeker that has a size, and remembers the last offset.
type sizedContent struct{ size, offset int64 }

func (c *sizedContent) Read([]byte) (int, error) {
	return 0, errors.New("site: the content must not be read")
}

func (c *sizedContent) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		offset += c.size
	}
	c.offset = offset
	return offset, nil
}
