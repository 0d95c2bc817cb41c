package s3

import (
	"cmp"
	"crypto/md5" //nolint:gosec // entity tags are MD5
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	maxParts    = 10_000
	minPartSize = 5 << 20 // of every part except the last one
)

// upload is the record of a multipart upload.
type upload struct {
	Headers   map[string]string `json:"headers"`
	Initiated time.Time         `json:"initiated"`
	Algorithm string            `json:"algorithm,omitzero"` // "" if the client chose none
	Type      string            `json:"type"`               // of the object's checksum
}

// algorithm returns the algorithm of the object's checksum.
func (u upload) algorithm() *algorithm { return cmp.Or(algorithmNamed(u.Algorithm), defaultAlgorithm) }

func (s *Store) createUpload(q *request) error {
	u := upload{Headers: q.keptHeaders(), Initiated: q.now, Algorithm: q.Header.Get("X-Amz-Checksum-Algorithm")}
	types := u.algorithm().types
	u.Type = cmp.Or(q.Header.Get("X-Amz-Checksum-Type"), types[0])
	switch {
	case u.Algorithm != "" && algorithmNamed(u.Algorithm) == nil:
		return errInvalidRequest.with("Checksum algorithm provided is unsupported.")
	case !slices.Contains(types, u.Type):
		return errInvalidRequest.with("The %s checksum type cannot be used with this checksum algorithm.", u.Type)
	}
	id := strings.ReplaceAll(uuid.NewString(), "-", "")
	key := indexKey(uploadPrefix, q.bucket, q.key, id)
	err := s.commit(func(c *change) error {
		c.set(key, u)
		return nil
	}, key)
	if err != nil {
		return err
	}
	if u.Algorithm != "" {
		q.w.Header().Set("X-Amz-Checksum-Algorithm", u.Algorithm)
		q.w.Header().Set("X-Amz-Checksum-Type", u.Type)
	}
	result := struct{ Bucket, Key, UploadId string }{q.bucket, q.key, id} //nolint:revive // name of the element
	return q.sendXML("InitiateMultipartUploadResult", result)
}

// readUpload returns the upload of the request's key and upload ID, and the ID and index key of that upload.
func (s *Store) readUpload(q *request) (u upload, id string, key []byte, err error) {
	id = q.query.Get("uploadId")
	key = indexKey(uploadPrefix, q.bucket, q.key, id)
	found, err := s.read(key, &u)
	if err == nil && !found {
		err = errNoUpload
	}
	return u, id, key, err
}

func (s *Store) uploadPart(q *request) error {
	number, err := strconv.Atoi(q.query.Get("partNumber"))
	if err != nil || number < 1 || number > maxParts {
		return errInvalidArgument.with("Part number must be an integer between 1 and 10000, inclusive")
	}
	u, id, key, err := s.readUpload(q)
	if err != nil {
		return err
	}
	want, err := q.expectedChecksum()
	if err != nil {
		return err
	}
	if u.Algorithm != "" && want.isGiven && want.algorithm != u.algorithm() {
		return errInvalidRequest.with("Checksum Type mismatch occurred, expected checksum Type: %s, actual checksum Type: %s",
			strings.ToLower(u.Algorithm), strings.ToLower(want.algorithm.name))
	}
	received, err := q.receive(u.algorithm())
	if err != nil {
		return err
	}
	err = s.commit(func(c *change) error {
		c.added = received.File
		var old content
		_, err := s.read(partKey(id, number), &old)
		if err == nil {
			_, _, _, err = s.readUpload(q) // another request may have completed or aborted it
		}
		c.set(partKey(id, number), received)
		c.unused = append(c.unused, old.File)
		return err
	}, key)
	if err != nil {
		return err
	}
	received.Checksum.set(q.w.Header())
	q.w.Header().Del("X-Amz-Checksum-Type")
	q.w.Header().Set("Etag", quote(received.ETag))
	return nil
}

// part is an uploaded part.
type part struct {
	content

	number int
}

func (p part) compare(number int) int { return p.number - number }

// parts returns the parts of an upload in the order of their numbers.
func (s *Store) parts(id string) (parts []part, err error) {
	err = scan(s, indexKey(partPrefix, id), "", func(rest string, c content) (string, error) {
		parts = append(parts, part{c, int(rest[0])<<8 | int(rest[1])})
		return "", nil
	})
	return parts, err
}

func (s *Store) abortUpload(q *request) error {
	_, id, key, err := s.readUpload(q)
	if err != nil {
		return err
	}
	return s.abort(key, id)
}

// abort removes an upload and its parts.
func (s *Store) abort(key []byte, id string) error {
	return s.commit(func(c *change) error { return s.end(c, key, id) }, key)
}

// end adds the removal of an upload and its parts to a change.
func (s *Store) end(c *change, key []byte, id string) error {
	parts, err := s.parts(id)
	for _, p := range parts {
		c.remove(partKey(id, p.number), p.File)
	}
	c.remove(key, "")
	return err
}

type (
	completeDocument struct {
		Parts   []completedPart `xml:"Part"`
		Unknown []anyElement    `xml:",any"`
	}
	completedPart struct {
		PartNumber int
		ETag       string
		Checksums  []element `xml:",any"`
	}
	completeResult struct {
		Location, Bucket, Key, ETag string
		Checksum                    []element
	}
)

func (d *completeDocument) check() error {
	if len(d.Parts) == 0 || len(d.Parts) > maxParts {
		return errMalformedXML
	}
	for i, p := range d.Parts {
		if i > 0 && p.PartNumber <= d.Parts[i-1].PartNumber {
			return errPartOrder
		}
		for _, sum := range p.Checksums {
			if !strings.HasPrefix(sum.XMLName.Local, "Checksum") {
				return errUnsupported.with("The local platform does not support the element %s.", sum.XMLName.Local)
			}
		}
	}
	return nil
}

// completeUpload creates an object from the parts of an upload.
func (s *Store) completeUpload(q *request) error {
	want := q.takeObjectChecksum()
	var document completeDocument
	if err := q.readXML(&document); err != nil {
		return err
	}
	var o object
	err := s.commit(func(c *change) error {
		u, id, key, err := s.readUpload(q)
		if err != nil {
			return err
		}
		parts, err := s.chosenParts(id, document.Parts)
		if err != nil {
			return err
		}
		if o.content, err = s.concatenate(q, u, want, parts); err != nil {
			return err
		}
		o.Headers, c.added = u.Headers, o.File
		return errors.Join(s.setObject(q, c, o), s.end(c, key, id))
	}, objectKey(q.bucket, q.key), indexKey(uploadPrefix, q.bucket, q.key, q.query.Get("uploadId")))
	if err != nil {
		return err
	}
	return q.sendXML("CompleteMultipartUploadResult", completeResult{
		"http://" + q.Host + q.URL.EscapedPath(), q.bucket, q.key, quote(o.ETag), o.Checksum.elements(),
	})
}

// takeObjectChecksum returns the checksum in a request to complete an upload, and removes it from the request. It is
// the checksum of the object, not of the request's body.
func (q *request) takeObjectChecksum() (c checksum) {
	for _, a := range algorithms {
		if value := q.Header.Get(a.header()); value != "" {
			c = checksum{Algorithm: a.name, Value: value}
			q.Header.Del(a.header())
		}
	}
	q.Header.Del("X-Amz-Sdk-Checksum-Algorithm")
	return c
}

// chosenParts returns the uploaded parts that a document lists. It returns an error if a part is missing, or has
// another entity tag or checksum.
func (s *Store) chosenParts(id string, wanted []completedPart) (chosen []part, err error) {
	uploaded, err := s.parts(id)
	if err != nil {
		return nil, err
	}
	for i, want := range wanted {
		at, found := slices.BinarySearchFunc(uploaded, want.PartNumber, part.compare)
		if !found || strings.Trim(want.ETag, `"`) != uploaded[at].ETag {
			return nil, errInvalidPart
		}
		for _, sum := range want.Checksums {
			if sum.XMLName.Local == uploaded[at].Checksum.elementName() && sum.Text != uploaded[at].Checksum.Value {
				return nil, errInvalidPart
			}
		}
		if i < len(wanted)-1 && uploaded[at].Size < minPartSize {
			return nil, errTooSmall
		}
		chosen = append(chosen, uploaded[at])
	}
	return chosen, nil
}

// concatenate stores the contents of parts as one content, and compares it with the checksum and size in the request.
// As on AWS, the object's modification time is the time at which the upload was initiated.
func (s *Store) concatenate(q *request, u upload, want checksum, parts []part) (c content, err error) {
	used := u.algorithm()
	whole, ofParts, etags := used.new(), used.new(), md5.New() //nolint:gosec // as above
	c.Modified = u.Initiated
	c.File, err = s.files.write(func(to io.Writer) error {
		for _, p := range parts {
			if err := s.copyFile(io.MultiWriter(whole, to), p.File); err != nil {
				return err
			}
			c.Size += p.Size
			etag, _ := hex.DecodeString(p.ETag) // valid: this package encoded it, and the checksum below
			sum, _ := base64.StdEncoding.DecodeString(p.Checksum.Value)
			_, _ = etags.Write(etag)
			_, _ = ofParts.Write(sum)
		}
		count := "-" + strconv.Itoa(len(parts))
		c.ETag = hex.EncodeToString(etags.Sum(nil)) + count
		c.Checksum = checksum{used.name, base64.StdEncoding.EncodeToString(whole.Sum(nil)), u.Type}
		if u.Type == composite {
			c.Checksum.Value = base64.StdEncoding.EncodeToString(ofParts.Sum(nil)) + count
		}
		return q.checkWhole(c, want)
	})
	return c, err
}

// checkWhole compares an object with the checksum, the checksum type and the size in the request to complete its
// upload.
func (q *request) checkWhole(c content, want checksum) error {
	got, _, _ := strings.Cut(c.Checksum.Value, "-") // clients may leave out the number of parts
	size, kind := q.Header.Get("X-Amz-Mp-Object-Size"), q.Header.Get("X-Amz-Checksum-Type")
	switch {
	case want.Algorithm == c.Checksum.Algorithm && want.Value != got && want.Value != c.Checksum.Value:
		return errBadDigest.with("The %s you specified did not match the calculated checksum.", want.Algorithm)
	case size != "" && size != strconv.FormatInt(c.Size, 10):
		return errInvalidRequest.with("The provided 'x-amz-mp-object-size' header does not match what was computed.")
	case kind != "" && kind != c.Checksum.Type:
		return errInvalidRequest.with("The upload was created with the checksum type %s.", c.Checksum.Type)
	}
	return nil
}

func (s *Store) copyFile(to io.Writer, name string) error {
	file, err := s.files.open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("copy a part: %w", err)
	}
	return nil
}
