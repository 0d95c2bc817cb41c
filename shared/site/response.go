package site

import (
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"devplatform/shared/site/rule"
)

// siteHeader sets the headers of a response that serves a file or a redirect of a deployment, and returns them.
// location is the target of a redirect, or "". Its length counts towards the size limit of the site's own headers.
func (v *view) siteHeader(m Manifest, deploymentID, location string) http.Header {
	header := v.resetHeader()
	fields, _ := rule.HeadersOf(m.Headers, v.r.URL.Path, len(location))
	for _, f := range fields {
		header.Set(f.Name, f.Value)
	}
	if !v.address.Production {
		header.Set("X-Robots-Tag", "noindex")
	}
	header.Set("X-Deployment-Id", deploymentID)
	header.Set("Cache-Control", "public, max-age=0, must-revalidate")
	if location != "" {
		header.Set("Location", location)
	}
	return header
}

// file responds with a file of a deployment.
func (v *view) file(header http.Header, deploymentID string, found rule.Result, f File) error {
	header.Set("Content-Type", f.ContentType)
	if f.ContentType == "" {
		header.Set("Content-Type", "application/octet-stream")
	}
	if f.Hashed && found.File == v.r.URL.Path {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	compressed := false
	if f.Gzip {
		header.Set("Vary", "Accept-Encoding")
		accepted := parseEncodings(v.r.Header.Values("Accept-Encoding"))
		// A range is a part of the content that is not compressed.
		wantsRange := found.Status == http.StatusOK && isSingleRange(v.r.Header.Get("Range")) && accepted.identity > 0
		compressed = accepted.gzip > 0 && accepted.gzip >= accepted.identity && !wantsRange
	}
	if compressed {
		header.Set("Content-Encoding", "gzip")
	}
	p := part{status: found.Status, length: int64(f.Size)}
	if p.status == http.StatusOK { // conditions and ranges do not apply to other responses
		tag := `"` + base64.RawURLEncoding.EncodeToString(f.SHA256[:]) + `"`
		if compressed { // weak, because another build may compress the same content differently
			tag = "W/" + tag
		}
		header.Set("ETag", tag)
		p = negotiate(header, v.r, p.length)
	}
	if v.r.Method == http.MethodHead || (p.status != found.Status && p.status != http.StatusPartialContent) {
		v.begin(p.status)
		return nil
	}
	body, err := v.open(ObjectKey(deploymentID, f.SHA256, f.Gzip), f, p, compressed)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	if compressed {
		p.length = unknownLength
	}
	return v.send(p, body)
}

// unknownLength is the length of a body whose length is known only after it was read.
const unknownLength = -1

// chunkBuffers contains the buffers that are not in use.
var chunkBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// send writes the response with a body. If the body fails before its first chunk is complete, the response has not
// begun when send returns the error.
func (v *view) send(p part, body io.Reader) error {
	chunk := chunkBuffers.Get().(*[64 << 10]byte)
	defer chunkBuffers.Put(chunk)
	for read, ended := int64(0), false; !ended; {
		n, err := fill(body, chunk[:])
		ended = errors.Is(err, io.EOF)
		read += int64(n)
		if ended && p.length != unknownLength && read != p.length {
			err = fmt.Errorf("site: the object has %d bytes instead of %d", read, p.length)
		} else if ended {
			err = nil
		}
		if err != nil {
			return err
		}
		v.begin(p.status)
		if n == 0 { // a Write of no bytes would wait for the client, too
			break
		}
		n, err = v.w.Write(chunk[:n])
		v.sent += int64(n)
		if err == nil && !ended {
			err = http.NewResponseController(v.w).Flush()
		}
		if err != nil {
			return fmt.Errorf("site: send: %w", err)
		}
	}
	return nil
}

// fill reads until the chunk is full. Unlike io.ReadFull, it returns the reader's own error.
func fill(r io.Reader, chunk []byte) (n int, err error) {
	for n < len(chunk) && err == nil {
		var more int
		more, err = r.Read(chunk[n:])
		n += more
	}
	return n, err
}

// page responds with one of the server's own pages.
func (v *view) page(status int) error {
	header := v.resetHeader()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("X-Robots-Tag", "noindex")
	switch status {
	case http.StatusMethodNotAllowed:
		header.Set("Allow", "GET, HEAD")
	case http.StatusTooManyRequests:
		header.Set("Retry-After", secondsToNextMonth(v.Clock()))
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", "5") // seconds
	}
	v.begin(status)
	if v.r.Method == http.MethodHead {
		return nil
	}
	_, err := v.w.Write(pages[status])
	return err
}

// resetHeader replaces the headers of the response with the headers that every response has, and returns them.
func (v *view) resetHeader() http.Header {
	header := v.w.Header()
	clear(header)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	if v.https {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
	return header
}

// begin sends the status and the headers, the first time that it is called.
func (v *view) begin(status int) {
	if v.status == 0 {
		v.status = status
		v.w.WriteHeader(status)
	}
}

// encodings are the client's preferences of Accept-Encoding: values from 0, which means not acceptable, to 1.
type encodings struct{ gzip, identity float64 }

// parseEncodings parses the values of Accept-Encoding (RFC 9110 §12.5.3). If the header does not name an encoding, the
// value of "*" applies to it. Without "*", gzip is not acceptable, and identity is acceptable but the last choice.
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

// negotiate evaluates the conditions and the range of a request for a file of size bytes, and sets the headers of the
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

// pages are the server's own pages, by status. Each is complete, and needs no other resource. The page for 404 does not
// say whether the address or only the path is unknown, so that an unknown, an offline and a deleted site look the same.
var pages = map[int][]byte{
	http.StatusNotFound: htmlPage("Page not found",
		"There is no page at this address. Check the address for typing errors."),
	http.StatusMethodNotAllowed: htmlPage("Method not allowed",
		"This site only serves pages and files. Use GET or HEAD."),
	http.StatusRequestURITooLong: htmlPage("Address too long",
		"The address is too long. Check the part after the question mark."),
	http.StatusTooManyRequests: htmlPage("Traffic limit reached",
		"The sites of this account have reached their traffic limit for this month. "+
			"The site is available again when the next month begins."),
	http.StatusUnavailableForLegalReasons: htmlPage("Site blocked",
		"This site is not available, because it was blocked."),
	http.StatusInternalServerError: htmlPage("Something went wrong",
		"The page could not be shown because of an error on our side. Please try again later."),
	http.StatusServiceUnavailable: htmlPage("Temporarily unavailable",
		"The site cannot be shown at the moment. Please try again in a few seconds."),
}

// htmlPage returns an HTML page. Its colors follow the browser's light or dark mode.
func htmlPage(title, text string) []byte {
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%[1]s</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 28rem; padding: 2rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0; opacity: .75; }
</style>
</head>
<body>
<main>
<h1>%[1]s</h1>
<p>%[2]s</p>
</main>
</body>
</html>
`, html.EscapeString(title), html.EscapeString(text))
}
