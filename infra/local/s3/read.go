package s3

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// openObject returns an object and its open content.
func (s *Store) openObject(bucket, key string) (o object, file vfs.File, err error) {
	name := objectKey(bucket, key)
	lock := &s.locks[s.locks.number(name)]
	lock.RLock()
	defer lock.RUnlock()
	found, err := s.read(name, &o)
	if err == nil && !found {
		err = errNoKey
	}
	if err == nil {
		file, err = s.files.open(o.File)
	}
	return o, file, err
}

// getObject handles GetObject and HeadObject.
func (s *Store) getObject(q *request) error {
	o, file, err := s.openObject(q.bucket, q.key)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	header := q.w.Header()
	header.Set("Etag", quote(o.ETag))
	header.Set("Last-Modified", o.Modified.Format(http.TimeFormat))
	if err := q.checkConditions(o.ETag, o.Modified.Truncate(time.Second)); err != nil {
		return err
	}
	start, length, isPart := int64(0), o.Size, false
	if condition := q.Header.Get("If-Range"); condition == "" || condition == quote(o.ETag) {
		start, length, isPart = parseRange(q.Header.Get("Range"), o.Size)
	}
	if isPart && length <= 0 {
		return errRange
	}
	for name, value := range o.Headers {
		if strings.HasPrefix(name, metadataPrefix) {
			name = strings.ToLower(name) // as S3 does; some clients do not change the case
		}
		header[name] = []string{value}
	}
	for name, values := range q.query {
		if changed, found := strings.CutPrefix(name, "response-"); found {
			header.Set(changed, values[0])
		}
	}
	header.Set("Accept-Ranges", "bytes")
	header.Set("Content-Length", strconv.FormatInt(length, 10))
	switch {
	case isPart:
		header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, start+length-1, o.Size))
		q.w.WriteHeader(http.StatusPartialContent)
	case q.Header.Get("X-Amz-Checksum-Mode") != "":
		o.Checksum.set(header)
	}
	if q.Method == http.MethodGet {
		_, _ = io.Copy(q.w, io.NewSectionReader(file, start, length)) // the client may have gone
	}
	return nil
}

// checkConditions checks the conditions of a download, in the order of RFC 9110 §13.2.2.
func (q *request) checkConditions(etag string, modified time.Time) error {
	match, noneMatch := q.Header.Get("If-Match"), q.Header.Get("If-None-Match")
	since, sinceErr := http.ParseTime(q.Header.Get("If-Modified-Since"))
	until, untilErr := http.ParseTime(q.Header.Get("If-Unmodified-Since"))
	switch {
	case match != "" && !matchesETag(match, etag), match == "" && untilErr == nil && modified.After(until):
		return errPrecondition
	case noneMatch != "" && matchesETag(noneMatch, etag), noneMatch == "" && sinceErr == nil && !modified.After(since):
		return errNotModified
	}
	return nil
}

var byteRange = regexp.MustCompile(`^bytes=(\d*)-(\d*)$`)

// parseRange returns the part of a content that a Range header selects. length is not positive if the content has no
// such part. Like S3, it ignores a header that is not valid or has several ranges, and returns the whole content.
func parseRange(header string, size int64) (start, length int64, isPart bool) {
	found := byteRange.FindStringSubmatch(header)
	if found == nil {
		return 0, size, false
	}
	start, startErr := strconv.ParseInt(found[1], 10, 64)
	last, lastErr := strconv.ParseInt(found[2], 10, 64)
	switch {
	case startErr != nil && lastErr != nil, startErr == nil && lastErr == nil && last < start:
		return 0, size, false
	case startErr != nil: // the last bytes
		length = min(last, size)
		return size - length, length, true
	case lastErr != nil || last >= size:
		last = size - 1
	}
	return start, last - start + 1, true
}
