package objectstore

import (
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// This file signs requests that clients send to S3 themselves. Signing does not access the network. The URLs have the
// host of the bucket in its region, or the endpoint of an emulator. S3 accepts such a request until it expires, and
// only as long as the credentials that signed it are valid.

// Upload describes the object that a client may create with a presigned request.
type Upload struct {
	Key    string
	Size   int
	SHA256 []byte
}

// PresignPut returns the URL with which a client can create an object during the time validFor, and the headers that
// the client must set. S3 rejects the request if the body has another size or hash, or if the object exists, because
// the signature covers the headers Content-Length, X-Amz-Checksum-Sha256 and If-None-Match. For an empty object, it
// does not cover Content-Length, so the hash must be the hash of empty content. The returned headers do not contain
// Content-Length: every HTTP client sets it, and scripts in browsers cannot set it.
func (b Bucket) PresignPut(ctx context.Context, u Upload, validFor time.Duration) (
	url string, headers map[string]string, err error,
) {
	in := &s3.PutObjectInput{
		Bucket: &b.name, Key: &u.Key, IfNoneMatch: aws.String("*"), ContentLength: aws.Int64(int64(u.Size)),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(u.SHA256)),
	}
	signed, err := s3.NewPresignClient(b.client.sdk(), s3.WithPresignExpires(validFor)).PresignPutObject(ctx, in)
	if err != nil {
		return "", nil, fmt.Errorf("objectstore: presign a PUT of %s: %w", u.Key, err)
	}
	headers = map[string]string{}
	for name := range signed.SignedHeader {
		if name := http.CanonicalHeaderKey(name); name != "Host" && name != "Content-Length" {
			headers[name] = signed.SignedHeader.Get(name)
		}
	}
	return signed.URL, headers, nil
}

// Download describes how a browser receives an object: as an attachment with a file name and a media type.
type Download struct{ Key, Filename, ContentType string }

// PresignGet returns a URL with which a client can download an object during the time validFor. It does not check that
// the object exists.
func (b Bucket) PresignGet(ctx context.Context, d Download, validFor time.Duration) (url string, err error) {
	// A name that is not plain ASCII is encoded as in RFC 5987.
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": d.Filename})
	in := &s3.GetObjectInput{
		Bucket: &b.name, Key: &d.Key, ResponseContentType: &d.ContentType, ResponseContentDisposition: &disposition,
		// The client that sent the object may have set these headers, because only some of its headers are signed.
		ResponseContentEncoding: aws.String("identity"), ResponseCacheControl: aws.String("private, no-cache"),
	}
	signed, err := s3.NewPresignClient(b.client.sdk(), s3.WithPresignExpires(validFor)).PresignGetObject(ctx, in)
	if err != nil {
		return "", fmt.Errorf("objectstore: presign a GET of %s: %w", d.Key, err)
	}
	return signed.URL, nil
}
