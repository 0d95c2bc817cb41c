// Package objectstore stores objects in an S3 bucket. It is the only package that uses S3, as package db is the only
// one that uses DynamoDB. Callers define the keys and the contents of objects, and decide when an object is removed.
package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"devplatform/shared/awsclient"
	"devplatform/shared/config"
)

// The classes of errors, for errors.Is. Any other error is a bug or a mistake in the deployment, such as a missing
// bucket.
var (
	// ErrNotFound reports that the object does not exist.
	ErrNotFound = errors.New("objectstore: not found")
	// ErrExists reports that an object with the key and other bytes exists.
	ErrExists = errors.New("objectstore: exists")
	// ErrUnavailable reports that S3 throttled the call, failed, or did not respond in time. S3 may have executed the
	// call.
	ErrUnavailable = errors.New("objectstore: unavailable")
)

// Client reads and writes objects. It is safe for concurrent use. A Lambda function creates one Client when it starts.
type Client struct{ sdk func() *s3.Client }

// New returns a client configured by Lambda's environment. It does not access the network. The SDK's client is built
// with the first call, because many invocations do not need it.
func New(cfg config.AWS) *Client { return newClient(cfg, awsclient.HTTP) }

// NewTransfer returns a client like New, for background jobs that transfer megabytes in one call. Its calls may take
// longer.
func NewTransfer(cfg config.AWS) *Client { return newClient(cfg, awsclient.TransferHTTP) }

// NewDownload returns a client like New, for functions that pass objects on to their clients while they read them. The
// time for reading an object is limited only by the context of the call.
func NewDownload(cfg config.AWS) *Client { return newClient(cfg, awsclient.DownloadHTTP) }

func newClient(cfg config.AWS, httpClient func() *http.Client) *Client {
	return Wrap(sync.OnceValue(func() *s3.Client {
		endpoint := awsclient.Endpoint(cfg.S3Endpoint, cfg.Endpoint)
		return s3.New(s3.Options{
			Region:       cfg.Region,
			Credentials:  awsclient.Credentials(cfg),
			BaseEndpoint: endpoint,
			UsePathStyle: endpoint != nil, // the name of a bucket is not part of an emulator's host name
			HTTPClient:   httpClient(),
			// Every call is safe to repeat. Create recognizes its own earlier attempt.
			Retryer: retry.AddWithErrorCodes(awsclient.Retryer(), codeConflict),
			// No checksums beside the signature, which contains the SHA-256 of a request's body. Callers compare what
			// they read with a hash of their own.
			RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
			ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		})
	}))
}

// codeConflict is the code of S3's error for two conditional writes of one key at the same time. S3 asks for a retry.
const codeConflict = "ConditionalRequestConflict"

// Wrap returns a Client that calls sdk to get the SDK's client, such as a test's.
func Wrap(sdk func() *s3.Client) *Client { return &Client{sdk: sdk} }

// Bucket is a bucket of a client.
type Bucket struct {
	client *Client
	name   string
}

// Bucket returns the bucket with that name. It does not check that the bucket exists.
func (c *Client) Bucket(name string) Bucket { return Bucket{client: c, name: name} }

// Create stores a new object. It never changes an object. If the object already exists with the same bytes, an earlier
// attempt has written it, and Create succeeds. Errors: ErrExists, ErrUnavailable.
func (b Bucket) Create(ctx context.Context, key string, data []byte) error {
	end := startCall(ctx)
	_, err := b.client.sdk().PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: bytes.NewReader(data), IfNoneMatch: aws.String("*"),
	})
	end()
	if !hasCode(err, "PreconditionFailed") {
		return classify("create", key, err)
	}
	stored, err := b.Get(ctx, key)
	if err == nil && !bytes.Equal(stored, data) {
		err = fmt.Errorf("%w: %s", ErrExists, key)
	}
	return err
}

// Put stores an object of any size. If an object with the key exists, it is replaced. After an error, the object may
// exist. Errors: ErrUnavailable.
func (b Bucket) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	defer startCall(ctx)()
	_, err := b.client.sdk().PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: body})
	return classify("put", key, err)
}

// Get returns the bytes of an object. S3 reports a missing object as a denied access to callers that may not list the
// bucket, so Get returns ErrNotFound for both. Errors: ErrNotFound, ErrUnavailable.
func (b Bucket) Get(ctx context.Context, key string) ([]byte, error) {
	body, size, err := b.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	data := make([]byte, size)
	_, err = io.ReadFull(body, data)
	return data, err
}

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

// Size returns the size of an object. Errors: ErrNotFound, as for Get; ErrUnavailable.
func (b Bucket) Size(ctx context.Context, key string) (int, error) {
	defer startCall(ctx)()
	out, err := b.client.sdk().HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	// The response to a HEAD request has no body, so the status is all that is known about the error.
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok &&
		(response.HTTPStatusCode() == http.StatusNotFound || response.HTTPStatusCode() == http.StatusForbidden) {
		return 0, fmt.Errorf("%w: %s: %w", ErrNotFound, key, err)
	}
	if err != nil {
		return 0, classify("head", key, err)
	}
	if out.ContentLength == nil {
		return 0, fmt.Errorf("%w: head %s: the response has no Content-Length", ErrUnavailable, key)
	}
	return int(*out.ContentLength), nil
}

// Object is an element of a list.
type Object struct {
	Key string
	// Written is when the object was written, with a precision of seconds.
	Written time.Time
}

// List returns up to 1,000 objects whose keys begin with prefix, in the order of their keys. It skips keys up to and
// including after. more reports whether there are more objects. Errors: ErrUnavailable.
func (b Bucket) List(ctx context.Context, prefix, after string) (objects []Object, more bool, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix}
	if after != "" {
		in.StartAfter = &after
	}
	end := startCall(ctx)
	out, err := b.client.sdk().ListObjectsV2(ctx, in)
	end()
	if err != nil {
		return nil, false, classify("list", prefix, err)
	}
	for _, o := range out.Contents {
		objects = append(objects, Object{Key: aws.ToString(o.Key), Written: aws.ToTime(o.LastModified)})
	}
	return objects, aws.ToBool(out.IsTruncated), nil
}

// maxDelete is the number of keys that S3 accepts in one DeleteObjects call.
const maxDelete = 1000

// DeleteAll deletes objects, not atomically. After an error, some of them are deleted and others are not, and it is
// safe to call DeleteAll again. The objects need not exist. Errors: ErrUnavailable.
func (b Bucket) DeleteAll(ctx context.Context, keys ...string) error {
	for batch := range slices.Chunk(keys, maxDelete) {
		in := &s3.DeleteObjectsInput{Bucket: &b.name, Delete: &types.Delete{Quiet: aws.Bool(true)}}
		for _, key := range batch {
			in.Delete.Objects = append(in.Delete.Objects, types.ObjectIdentifier{Key: &key})
		}
		end := startCall(ctx)
		out, err := b.client.sdk().DeleteObjects(ctx, in)
		end()
		if err != nil {
			return classify("delete", batch[0], err)
		}
		if len(out.Errors) > 0 { // S3 could not delete some of them
			failed := out.Errors[0]
			return fmt.Errorf("%w: delete: %d of %d objects remain, first %s: %s: %s", ErrUnavailable, len(out.Errors),
				len(batch), aws.ToString(failed.Key), aws.ToString(failed.Code), aws.ToString(failed.Message))
		}
	}
	return nil
}

// DeletePrefix deletes all objects whose keys begin with prefix, which must not be empty, and returns their number.
// After an error, some of them are deleted, and it is safe to call DeletePrefix again. Errors: ErrUnavailable.
func (b Bucket) DeletePrefix(ctx context.Context, prefix string) (n int, err error) {
	if prefix == "" {
		return 0, errors.New("objectstore: the prefix is empty")
	}
	after := ""
	for more := true; more; {
		var objects []Object
		if objects, more, err = b.List(ctx, prefix, after); err != nil {
			return n, err
		}
		keys := make([]string, len(objects))
		for i, o := range objects {
			keys[i], after = o.Key, o.Key
		}
		if err := b.DeleteAll(ctx, keys...); err != nil {
			return n, err
		}
		n += len(keys)
	}
	return n, nil
}

func startCall(ctx context.Context) (end func()) { return awsclient.StartCall(ctx, awsclient.S3) }

// hasCode reports whether err is an error of S3 with that code.
func hasCode(err error, code string) bool {
	failure, ok := errors.AsType[smithy.APIError](err)
	return ok && failure.ErrorCode() == code
}

func classify(op, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case awsclient.IsUnavailable(err), hasCode(err, codeConflict):
		return fmt.Errorf("%w: %s %s: %w", ErrUnavailable, op, key, err)
	}
	return fmt.Errorf("objectstore: %s %s: %w", op, key, err)
}
