package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Open returns a reader of an object's bytes, and their number. The caller must close the reader. Its Read returns
// ErrUnavailable if the connection breaks before the last byte. Errors: the errors of Get.
func (b Bucket) Open(ctx context.Context, key string) (body io.ReadCloser, size int64, err error) {
	return b.open(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
}

// OpenRange is like Open for a part of an object: length bytes from the offset start. The object must have these bytes,
// and length must be positive.
func (b Bucket) OpenRange(ctx context.Context, key string, start, length int64) (io.ReadCloser, error) {
	part := fmt.Sprintf("bytes=%d-%d", start, start+length-1)
	body, size, err := b.open(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key, Range: &part})
	if err == nil && size != length {
		_ = body.Close()
		return nil, fmt.Errorf("objectstore: get %s: got %d bytes for the range %s", key, size, part)
	}
	return body, err
}

func (b Bucket) open(ctx context.Context, in *s3.GetObjectInput) (io.ReadCloser, int64, error) {
	key := aws.ToString(in.Key)
	end := startCall(ctx)
	out, err := b.client.sdk().GetObject(ctx, in)
	end()
	if hasCode(err, "NoSuchKey") || hasCode(err, "AccessDenied") {
		return nil, 0, fmt.Errorf("%w: %s: %w", ErrNotFound, key, err)
	}
	if err != nil {
		return nil, 0, classify("get", key, err)
	}
	if out.ContentLength == nil { // without it, an incomplete object could not be recognized
		_ = out.Body.Close()
		return nil, 0, fmt.Errorf("%w: get %s: the response has no Content-Length", ErrUnavailable, key)
	}
	return &reader{ReadCloser: out.Body, key: key}, *out.ContentLength, nil
}

// reader is the reader that Open and OpenRange return.
type reader struct {
	io.ReadCloser

	key string
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: get %s: %w", ErrUnavailable, r.key, err)
	}
	return n, err
}

// MinPart is the minimum size of each part of a MultipartUpload except the last.
const MinPart = 5 << 20

// MultipartUpload is an upload in parts. The object exists when the upload is complete. S3 removes the parts of an
// upload that has not ended after a time that the bucket's rules define.
type MultipartUpload struct {
	bucket Bucket
	key    string
	// ID identifies the upload.
	ID string
}

// StartMultipart starts an upload. If an object with the key exists, the upload replaces it when it is completed.
// Errors: ErrUnavailable.
func (b Bucket) StartMultipart(ctx context.Context, key, contentType string) (MultipartUpload, error) {
	defer startCall(ctx)()
	out, err := b.client.sdk().CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &b.name, Key: &key, ContentType: &contentType,
	})
	if err != nil {
		return MultipartUpload{}, classify("start an upload of", key, err)
	}
	return b.Multipart(key, aws.ToString(out.UploadId)), nil
}

// Multipart returns an upload that StartMultipart started.
func (b Bucket) Multipart(key, uploadID string) MultipartUpload {
	return MultipartUpload{bucket: b, key: key, ID: uploadID}
}

// Put stores a part and returns its entity tag. Parts are numbered from 1. A part with that number is replaced.
// Errors: ErrUploadEnded, ErrUnavailable.
func (u MultipartUpload) Put(ctx context.Context, number int, data []byte) (etag string, err error) {
	defer startCall(ctx)()
	out, err := u.bucket.client.sdk().UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &u.bucket.name, Key: &u.key, UploadId: &u.ID, Body: bytes.NewReader(data),
		PartNumber: aws.Int32(int32(number)), //nolint:gosec // at most 10,000
	})
	if err != nil {
		return "", u.classify("put a part of", err)
	}
	return aws.ToString(out.ETag), nil
}

// Complete creates the object from the parts with the numbers 1 to len(etags), if they have these entity tags. After
// an error, the object may exist. Errors: ErrUploadEnded, ErrUnavailable.
func (u MultipartUpload) Complete(ctx context.Context, etags []string) error {
	parts := make([]types.CompletedPart, len(etags))
	for i := range etags {
		parts[i] = types.CompletedPart{ETag: &etags[i], PartNumber: aws.Int32(int32(i + 1))}
	}
	defer startCall(ctx)()
	_, err := u.bucket.client.sdk().CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &u.bucket.name, Key: &u.key, UploadId: &u.ID,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	return u.classify("complete an upload of", err)
}

// Abort removes the parts. Errors: ErrUploadEnded, ErrUnavailable.
func (u MultipartUpload) Abort(ctx context.Context) error {
	defer startCall(ctx)()
	_, err := u.bucket.client.sdk().AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: &u.bucket.name, Key: &u.key, UploadId: &u.ID,
	})
	return u.classify("abort an upload of", err)
}

func (u MultipartUpload) classify(op string, err error) error {
	if hasCode(err, "NoSuchUpload") || hasCode(err, "InvalidPart") {
		return fmt.Errorf("%w: %s %s: %w", ErrUploadEnded, op, u.key, err)
	}
	return classify(op, u.key, err)
}
