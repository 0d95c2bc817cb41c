package s3

import (
	"bytes"
	"crypto/md5" //nolint:gosec // entity tags are MD5
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
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

// bodyLength returns the number of bytes that the decoded body must have.
func (q *request) bodyLength(limit int64) (int64, error) {
	length, err := q.ContentLength, error(nil)
	if q.isChunked() {
		if length, err = strconv.ParseInt(q.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64); err != nil {
			length = -1
		}
	}
	switch isKnown := slices.Contains([]string{streamSigned, streamSignedTrailer, streamUnsignedTrailer}, q.payload); {
	case q.isChunked() && !isKnown:
		return 0, errUnsupported.with("The local platform does not support x-amz-content-sha256: %s", q.payload)
	case !q.isChunked() && q.Header.Get("X-Amz-Trailer") != "":
		return 0, errInvalidRequest.with("The value of x-amz-content-sha256 does not allow trailers")
	case length < 0:
		return 0, errNoLength
	case length > limit:
		return 0, errTooLarge
	}
	return length, nil
}

// copyBody copies the decoded body, and checks its length, hash, Content-MD5 and checksum. The content that it returns
// has no file.
func (q *request) copyBody(to io.Writer, limit int64) (c content, err error) {
	want, err := q.expectedChecksum()
	if err != nil {
		return c, err
	}
	if want.algorithm == nil {
		want.algorithm = defaultAlgorithm
	}
	wantMD5, err := base64.StdEncoding.DecodeString(q.Header.Get("Content-Md5"))
	if err != nil || len(wantMD5) > 0 && len(wantMD5) != md5.Size {
		return c, errInvalidDigest
	}
	length, err := q.bodyLength(limit)
	if err != nil {
		return c, err
	}
	md5Sum, sha256Sum, checksumSum := md5.New(), sha256.New(), want.algorithm.new() //nolint:gosec // as above
	writers := []io.Writer{md5Sum, checksumSum}
	isHashed := !q.isChunked() && q.payload != unsignedPayload
	if isHashed {
		writers = append(writers, sha256Sum)
	}
	writers = append(writers, to) // the last one: with the race detector, Pebble's memory file system changes the buffer
	if err := q.copyExactly(io.MultiWriter(writers...), length, &want); err != nil {
		return c, err
	}
	got := base64.StdEncoding.EncodeToString(checksumSum.Sum(nil))
	switch {
	case len(wantMD5) > 0 && !bytes.Equal(wantMD5, md5Sum.Sum(nil)):
		return c, errBadDigest.with("The Content-MD5 you specified did not match what we received.")
	case isHashed && hex.EncodeToString(sha256Sum.Sum(nil)) != q.payload:
		return c, errContentHash
	case want.isGiven && want.value != got:
		return c, errBadDigest.with("The %s you specified did not match the calculated checksum.", want.algorithm.name)
	}
	return content{
		Size: length, ETag: hex.EncodeToString(md5Sum.Sum(nil)), Modified: q.now,
		Checksum: checksum{want.algorithm.name, got},
	}, nil
}

// copyExactly copies the decoded body, which must have length bytes. It completes want if the checksum follows the
// body.
func (q *request) copyExactly(to io.Writer, length int64, want *expected) error {
	if q.isChunked() {
		trailers, err := q.copyChunks(to, length)
		if want.isTrailing {
			want.value = trailers[want.algorithm.trailer()]
		}
		return err
	}
	size, err := io.Copy(to, io.LimitReader(q.Body, length+1))
	if err == nil && size != length {
		return errIncomplete
	}
	return truncated(err)
}
