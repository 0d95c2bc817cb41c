package s3

import (
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	metadataPrefix = "X-Amz-Meta-"
	maxDelete      = 1000 // keys in a DeleteObjects request
)

// keptHeaders are the headers of an upload that a download returns, in addition to the metadata.
var keptHeaders = []string{
	"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Expires",
}

// headersToKeep returns the headers that are stored with an object.
func (q *request) headersToKeep() map[string]string {
	kept := map[string]string{"Content-Type": "binary/octet-stream"}
	for name, values := range q.Header {
		value := strings.Join(values, ",")
		if strings.HasPrefix(name, metadataPrefix) || value != "" && slices.Contains(keptHeaders, name) {
			kept[name] = value
		}
	}
	return kept
}

func (s *Store) putObject(q *request) error {
	if _, err := s.readReplaced(q); err != nil { // before the body is read
		return err
	}
	received, err := q.receive()
	if err != nil {
		return err
	}
	key := objectKey(q.bucket, q.key)
	err = s.commit(func(c *change) error {
		c.added = received.File
		old, err := s.readReplaced(q)
		c.set(key, object{received, q.headersToKeep()})
		c.unused = append(c.unused, old.File)
		return err
	}, key)
	if err != nil {
		return err
	}
	received.Checksum.set(q.w.Header())
	q.w.Header().Set("Etag", quote(received.ETag))
	return nil
}

// readReplaced returns the object that a write replaces, zero if there is none. It returns an error if the condition of
// the write does not hold.
func (s *Store) readReplaced(q *request) (old object, err error) {
	found, err := s.read(objectKey(q.bucket, q.key), &old)
	switch condition := q.Header.Get("If-None-Match"); {
	case err != nil || condition == "":
	case condition != "*":
		err = errUnsupported.with("Only * is supported in If-None-Match of a write.")
	case found:
		err = errPrecondition
	}
	return old, err
}

func (s *Store) deleteObject(q *request) error {
	return s.delete(q.bucket, []string{q.key})
}

// delete removes the existing objects with these keys.
func (s *Store) delete(bucket string, keys []string) error {
	names := make([][]byte, 0, len(keys))
	for _, key := range keys {
		names = append(names, objectKey(bucket, key))
	}
	return s.commit(func(c *change) error {
		for _, name := range names {
			var o object
			found, err := s.read(name, &o)
			if err != nil {
				return err
			}
			if found {
				c.remove(name, o.File)
			}
		}
		return nil
	}, names...)
}

type (
	deleteDocument struct {
		Objects []objectIdentifier `xml:"Object"`
		Quiet   bool
		Unknown []anyElement `xml:",any"`
	}
	objectIdentifier struct {
		Key     string
		Unknown []anyElement `xml:",any"`
	}
	deleteResult struct{ Deleted []deletedKey }
	deletedKey   struct{ Key string }
)

func (d *deleteDocument) check() error {
	if len(d.Objects) == 0 || len(d.Objects) > maxDelete {
		return errMalformedXML
	}
	return nil
}

func (s *Store) deleteObjects(q *request) error {
	var document deleteDocument
	if err := q.readXML(&document); err != nil {
		return err
	}
	var result deleteResult
	var keys []string
	for _, o := range document.Objects {
		keys = append(keys, o.Key)
		if !document.Quiet {
			result.Deleted = append(result.Deleted, deletedKey{o.Key})
		}
	}
	if err := s.delete(q.bucket, keys); err != nil {
		return err
	}
	return q.sendXML("DeleteResult", result)
}

// quote returns an entity tag with quotes, as headers and documents have it.
func quote(etag string) string { return `"` + etag + `"` }

// matchesETag reports whether an If-Match or If-None-Match header is "*" or lists an entity tag.
func matchesETag(header, etag string) bool {
	return slices.ContainsFunc(strings.Split(header, ","), func(candidate string) bool {
		candidate = strings.Trim(strings.TrimPrefix(strings.TrimSpace(candidate), "W/"), `"`)
		return candidate == "*" || candidate == etag
	})
}

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

// maxList is the maximum number of entries in a page.
const maxList = 1000

type (
	listResult struct {
		Name, Prefix          string
		Delimiter             string `xml:",omitempty"`
		StartAfter            string `xml:",omitempty"`
		ContinuationToken     string `xml:",omitempty"`
		NextContinuationToken string `xml:",omitempty"`
		EncodingType          string `xml:",omitempty"`
		KeyCount, MaxKeys     int
		IsTruncated           bool
		Contents              []listedObject
		CommonPrefixes        []commonPrefix
	}
	listedObject struct {
		Key, LastModified, ETag         string
		ChecksumAlgorithm, ChecksumType string `xml:",omitempty"`
		Size                            int64
		StorageClass                    string
	}
	commonPrefix struct{ Prefix string }
)

// lister collects one page of a list.
type lister struct {
	listResult

	prefix, delimiter, from string // the page begins with the first key that is not less than from
	pageSize                int
	encode                  func(string) string
}

// newLister reads the parameters of ListObjectsV2.
func (q *request) newLister() (*lister, error) {
	get := q.query.Get
	l := &lister{
		prefix: get("prefix"), delimiter: get("delimiter"), pageSize: maxList,
		encode: func(text string) string { return text },
	}
	if get("encoding-type") == "url" {
		l.encode = escapePath
	}
	var err error
	if q.query.Has("max-keys") {
		l.pageSize, err = strconv.Atoi(get("max-keys"))
	}
	token, tokenErr := base64.URLEncoding.DecodeString(get("continuation-token"))
	switch {
	case get("list-type") != "2":
		return nil, errInvalidArgument.with("list-type must be 2")
	case get("encoding-type") != "url" && get("encoding-type") != "":
		return nil, errInvalidArgument.with("Invalid Encoding Method specified in Request")
	case err != nil || l.pageSize < 0 || l.pageSize > math.MaxInt32:
		return nil, errInvalidArgument.with("Argument max-keys must be an integer between 0 and 2147483647")
	case tokenErr != nil || q.query.Has("continuation-token") && len(token) == 0:
		return nil, errInvalidArgument.with("The continuation token provided is incorrect")
	case len(token) > 0:
		l.from = string(token)
	case get("start-after") != "":
		l.from = get("start-after") + "\x00"
	}
	l.from = max(l.from, l.prefix)
	l.listResult = listResult{
		Name: q.bucket, Prefix: l.encode(l.prefix), Delimiter: l.encode(l.delimiter),
		StartAfter: l.encode(get("start-after")), ContinuationToken: get("continuation-token"),
		EncodingType: get("encoding-type"), MaxKeys: l.pageSize,
	}
	l.pageSize = min(l.pageSize, maxList)
	return l, nil
}

// add adds an object or its common prefix to the page. It returns the key at which the scan continues, or "" to
// continue with the next object.
func (l *lister) add(key string, o object) (next string, err error) {
	if !strings.HasPrefix(key, l.prefix) || l.pageSize == 0 {
		return "", fs.SkipAll
	}
	if l.KeyCount == l.pageSize {
		l.IsTruncated, l.NextContinuationToken = true, base64.URLEncoding.EncodeToString([]byte(key))
		return "", fs.SkipAll
	}
	l.KeyCount++
	if end := strings.Index(key[len(l.prefix):], l.delimiter); l.delimiter != "" && end >= 0 {
		common := key[:len(l.prefix)+end+len(l.delimiter)]
		l.CommonPrefixes = append(l.CommonPrefixes, commonPrefix{l.encode(common)})
		return common + afterAll, nil
	}
	l.Contents = append(l.Contents, listedObject{
		Key: l.encode(key), LastModified: o.Modified.Format(documentTime), ETag: quote(o.ETag), Size: o.Size,
		StorageClass: "STANDARD", ChecksumAlgorithm: o.Checksum.Algorithm, ChecksumType: fullObject,
	})
	return "", nil
}

// listObjects handles ListObjectsV2. A continuation token is the first key of the next page.
func (s *Store) listObjects(q *request) error {
	list, err := q.newLister()
	if err != nil {
		return err
	}
	if err := scan(s, objectKey(q.bucket, ""), list.from, list.add); err != nil {
		return err
	}
	return q.sendXML("ListBucketResult", list.listResult)
}
