package site

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/objectstore"
	"devplatform/shared/site/rule"
)

// view is a request and its response.
type view struct {
	*Handler

	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context // it has the lifetime of the request
	label   string
	address Address
	status  int   // 0 until the response has begun
	sent    int64 // bytes of the body
	cause   error // the reason of an error response or of an incomplete one
}

// serve writes the response. An error means that the response is not complete, or has not begun.
func (v *view) serve() error {
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		return v.page(http.StatusMethodNotAllowed)
	}
	label, ok := v.labelOf(v.r.Host)
	if !ok {
		return v.page(http.StatusNotFound)
	}
	v.label = label
	var err error
	// The deployment can be deleted after the address was read. Then the second reading returns the deployment that is
	// live now, or none.
	for range 2 {
		v.address, err = v.store.address(v.ctx, label)
		if errors.Is(err, db.ErrNotFound) {
			return v.page(http.StatusNotFound)
		}
		if err != nil {
			return err
		}
		if err = v.show(); !errors.Is(err, objectstore.ErrNotFound) {
			return err
		}
	}
	v.cause = err
	return v.page(http.StatusNotFound)
}

// show responds with the file or the redirect of the deployment to which the address points. It returns
// objectstore.ErrNotFound only if the response has not begun.
func (v *view) show() error {
	switch {
	case v.address.Blocked:
		return v.page(http.StatusUnavailableForLegalReasons)
	case v.address.DeploymentID == "" || v.address.ReservedFor != "":
		return v.page(http.StatusNotFound)
	}
	workspace, err := v.workspaces.get(v.ctx, v.address.WorkspaceID)
	switch {
	case err != nil:
		return err
	case workspace == nil:
		return v.page(http.StatusNotFound)
	case workspace.IsReadOnly():
		return v.page(http.StatusUnavailableForLegalReasons)
	}
	exceeded, err := v.traffic.isExceeded(v.ctx, v.address.AccountID)
	if err != nil { // the last known value is good enough
		v.Logger.WarnContext(v.ctx, "the traffic of an account cannot be read", "cause", err)
	}
	if exceeded {
		return v.page(http.StatusTooManyRequests)
	}
	manifest, err := v.manifests.get(v.ctx, v.address.manifestKey())
	if err != nil {
		return err
	}
	path, query := v.r.URL.Path, v.r.URL.RawQuery
	t, ok := manifest.find(path, query)
	if !ok {
		deploymentID, f, err := v.findEarlier(path)
		if err != nil {
			return err
		}
		if deploymentID != "" {
			header := v.siteHeader(manifest, deploymentID, "")
			return v.file(header, deploymentID, target{status: http.StatusOK, path: path}, f)
		}
		if t, ok = manifest.applyRules(path, query); !ok {
			t = manifest.fallback(path, v.address.SPA)
		}
	}
	if t.path == "" && t.location == "" {
		return v.page(t.status)
	}
	header := v.siteHeader(manifest, v.address.DeploymentID, t.location)
	if t.location != "" {
		v.begin(t.status)
		return nil
	}
	return v.file(header, v.address.DeploymentID, t, manifest.Files[t.path])
}

// siteHeader sets the headers of a response that serves a file or a redirect of a deployment, and returns them.
// location is the target of a redirect, or "". Its length counts towards the limit of the size of the site's own
// headers.
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
func (v *view) file(header http.Header, deploymentID string, found target, f File) error {
	header.Set("Content-Type", f.ContentType)
	if f.ContentType == "" {
		header.Set("Content-Type", "application/octet-stream")
	}
	if f.Hashed && found.path == v.r.URL.Path {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	compressed := false
	if f.Gzip {
		header.Set("Vary", "Accept-Encoding")
		accepted := parseEncodings(v.r.Header.Values("Accept-Encoding"))
		// A range is a part of the content that is not compressed.
		wantsRange := found.status == http.StatusOK && isSingleRange(v.r.Header.Get("Range")) && accepted.identity > 0
		compressed = accepted.gzip > 0 && accepted.gzip >= accepted.identity && !wantsRange
	}
	if compressed {
		header.Set("Content-Encoding", "gzip")
	}
	p := part{status: found.status, length: int64(f.Size)}
	if p.status == http.StatusOK { // conditions and ranges do not apply to other responses
		header.Set("ETag", etag(f, compressed))
		p = negotiate(header, v.r, p.length)
	}
	if v.r.Method == http.MethodHead || (p.status != found.status && p.status != http.StatusPartialContent) {
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

// etag returns the entity tag of a file. The tag of the compressed form is weak, because another build may compress the
// same content differently.
func etag(f File, compressed bool) string {
	tag := `"` + base64.RawURLEncoding.EncodeToString(f.SHA256[:]) + `"`
	if compressed {
		return "W/" + tag
	}
	return tag
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

// retryAfter is the number of seconds after which a client may repeat a request that failed because storage was not
// available.
const retryAfter = "5"

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
		header.Set("Retry-After", seconds(untilNextMonth(v.Clock())))
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfter)
	}
	v.begin(status)
	if v.r.Method == http.MethodHead {
		return nil
	}
	_, err := v.w.Write(pages[status])
	return err
}

// resetHeader removes all headers of the response except the headers of every response, and returns them.
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

// seconds returns a duration as the value of Retry-After, rounded up.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
