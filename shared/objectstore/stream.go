package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
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

// Put stores an object of any size. If an object with the key exists, it is replaced. After an error, the object may
// exist. Errors: ErrUnavailable.
func (b Bucket) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	defer startCall(ctx)()
	_, err := b.client.sdk().PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: body})
	return classify("put", key, err)
}
