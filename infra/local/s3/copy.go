package s3

import (
	"cmp"
	"io"
	"net/url"
	"strings"
)

// copied is the response document of CopyObject and UploadPartCopy. It describes the copy.
type copied struct {
	LastModified, ETag string
	Checksum           []element
}

// sourceBody is the body of a copy.
type sourceBody struct {
	io.Reader
	io.Closer
}

func (c content) copied() copied {
	return copied{c.Modified.Format(documentTime), quote(c.ETag), c.Checksum.elements()}
}

// isCopy reports whether the request copies the content of another object.
func (q *request) isCopy() bool { return q.Header.Get("X-Amz-Copy-Source") != "" }

// takeSource replaces the request's body with the content of the source object, or with the requested range of it.
func (s *Store) takeSource(q *request) (source object, err error) {
	text := q.Header.Get("X-Amz-Copy-Source")
	name, err := url.PathUnescape(strings.TrimPrefix(text, "/"))
	bucketName, key, found := strings.Cut(name, "/")
	switch {
	case err != nil || !found:
		return source, errInvalidArgument.with("Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
	case strings.Contains(text, "?"):
		return source, errUnsupported.with("The local platform does not support versions of objects.")
	}
	if found, err := s.read(indexKey(bucketPrefix, bucketName), &bucket{}); !found {
		return source, cmp.Or(err, error(errNoBucket)) //nolint:wrapcheck // both are of this package
	}
	source, file, err := s.openObject(bucketName, key)
	if err != nil {
		return source, err
	}
	rangeText, match := q.Header.Get("X-Amz-Copy-Source-Range"), q.Header.Get("X-Amz-Copy-Source-If-Match")
	start, length, isPart := parseRange(rangeText, source.Size)
	q.Body, q.ContentLength, q.payload = sourceBody{io.NewSectionReader(file, start, length), file}, length, unsignedPayload
	switch {
	case rangeText != "" && (!isPart || length <= 0):
		err = errInvalidArgument.with("The x-amz-copy-source-range value must be of the form bytes=first-last")
	case match != "" && !matchesETag(match, source.ETag):
		err = errPrecondition
	}
	return source, err
}

// copyObject copies an object. The copy has the headers of the source or, if the directive is REPLACE, of the request.
func (s *Store) copyObject(q *request) error {
	source, err := s.takeSource(q)
	if err != nil {
		return err
	}
	if q.Header.Get("X-Amz-Metadata-Directive") == "REPLACE" {
		source.Headers = q.keptHeaders()
	} else if q.Header.Get("X-Amz-Copy-Source") == q.bucket+"/"+q.key {
		return errInvalidRequest.with("This copy request is illegal because it is trying to copy an object to itself " +
			"without changing the object's metadata.")
	}
	received, err := q.receive(algorithmNamed(source.Checksum.Algorithm))
	if err != nil {
		return err
	}
	if err := s.replace(q, object{received, source.Headers}); err != nil {
		return err
	}
	return q.sendXML("CopyObjectResult", received.copied())
}
