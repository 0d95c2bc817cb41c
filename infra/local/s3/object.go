package s3

import (
	"slices"
	"strings"
)

const (
	metadataPrefix = "X-Amz-Meta-"
	maxDelete      = 1000 // keys in a DeleteObjects request
)

// keptHeaders are the headers of an upload that a download returns, in addition to the metadata.
var keptHeaders = []string{
	"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Expires",
}

// keptHeaders returns the headers that are stored with an object.
func (q *request) keptHeaders() map[string]string {
	kept := map[string]string{"Content-Type": "binary/octet-stream"}
	for name, values := range q.Header {
		value := strings.Join(values, ",")
		if name == "Content-Encoding" { // aws-chunked is the coding of the request, not of the object
			value = strings.Trim(strings.Replace(value, "aws-chunked", "", 1), ", ")
		}
		if strings.HasPrefix(name, metadataPrefix) || value != "" && slices.Contains(keptHeaders, name) {
			kept[name] = value
		}
	}
	return kept
}

func (s *Store) putObject(q *request) error {
	if _, err := s.replaced(q); err != nil { // before the body is read
		return err
	}
	received, err := q.receive()
	if err != nil {
		return err
	}
	key := objectKey(q.bucket, q.key)
	err = s.commit(func(c *change) error {
		c.added = received.File
		old, err := s.replaced(q)
		c.set(key, object{received, q.keptHeaders()})
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

// replaced returns the object that a write replaces, zero if there is none. It returns an error if the conditions of
// the write do not hold.
func (s *Store) replaced(q *request) (old object, err error) {
	found, err := s.read(objectKey(q.bucket, q.key), &old)
	match, noneMatch := q.Header.Get("If-Match"), q.Header.Get("If-None-Match")
	switch {
	case err != nil:
	case noneMatch != "" && noneMatch != "*":
		err = errUnsupported.with("Only * is supported in If-None-Match of a write.")
	case match != "" && !found:
		err = errNoKey
	case noneMatch != "" && found, match != "" && !matchesETag(match, old.ETag):
		err = errPrecondition
	}
	return old, err
}

func (s *Store) deleteObject(q *request) error {
	match := q.Header.Get("If-Match")
	return s.delete(q.bucket, []string{q.key}, func(o object) (bool, error) {
		if match != "" && !matchesETag(match, o.ETag) {
			return false, errPrecondition
		}
		return true, nil
	})
}

// delete removes the existing objects with these keys for which isWanted returns true. If isWanted returns an error,
// nothing is removed.
func (s *Store) delete(bucket string, keys []string, isWanted func(object) (bool, error)) error {
	names := make([][]byte, 0, len(keys))
	for _, key := range keys {
		names = append(names, objectKey(bucket, key))
	}
	return s.commit(func(c *change) error {
		for _, name := range names {
			var o object
			found, err := s.read(name, &o)
			if err == nil && found {
				found, err = isWanted(o)
			}
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

// deleteObjects removes up to 1,000 objects.
func (s *Store) deleteObjects(q *request) error {
	var document deleteDocument
	if err := q.readXML(&document); err != nil {
		return err
	}
	var result deleteResult
	var keys []string
	for _, o := range document.Objects {
		if keys = append(keys, o.Key); !document.Quiet {
			result.Deleted = append(result.Deleted, deletedKey{o.Key})
		}
	}
	err := s.delete(q.bucket, keys, func(object) (bool, error) { return true, nil })
	if err != nil {
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
