package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

const region = "us-east-1"

// server is a store behind a port, and a client of it.
type server struct {
	*sdk.Client

	t     *testing.T
	store *Store
	url   string
}

func open(t *testing.T, options Options) *Store {
	t.Helper()
	if options.Now == nil {
		options.Now = time.Now
	}
	s, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start returns a server with the bucket "bkt", in memory unless options has a folder.
func start(t *testing.T, options Options) *server {
	t.Helper()
	s := &server{t: t, store: open(t, options)}
	ts := httptest.NewServer(s.store)
	t.Cleanup(func() {
		ts.Close()
		err := s.store.Close()
		if options.Folder != nil {
			err = errors.Join(err, options.Folder.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	s.url = ts.URL
	s.Client = client(ts.URL)
	if _, err := s.CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: aws.String("bkt")}); err != nil {
		t.Fatal(err)
	}
	return s
}

func client(url string, options ...func(*sdk.Options)) *sdk.Client {
	return sdk.New(sdk.Options{
		BaseEndpoint: &url, Region: region, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(AccessKeyID, SecretKey, ""),
	}, options...)
}

// put stores an object of the bucket "bkt" and returns its entity tag.
func (s *server) put(key, content string) string {
	s.t.Helper()
	out, err := s.PutObject(s.t.Context(), &sdk.PutObjectInput{Bucket: aws.String("bkt"), Key: &key, Body: strings.NewReader(content)})
	if err != nil {
		s.t.Fatal(err)
	}
	return *out.ETag
}

// get returns an object of the bucket "bkt".
func (s *server) get(key string) (string, error) {
	out, err := s.GetObject(s.t.Context(), &sdk.GetObjectInput{
		Bucket: aws.String("bkt"), Key: &key, ChecksumMode: "ENABLED",
	})
	if err != nil {
		return "", err
	}
	defer out.Body.Close()
	content, err := io.ReadAll(out.Body)
	return string(content), err
}

func (s *server) wantContent(key, want string) {
	s.t.Helper()
	if got, err := s.get(key); err != nil || got != want {
		s.t.Errorf("%s has %d bytes, which begin with %.60q (%v), want %d bytes, which begin with %.60q",
			key, len(got), got, err, len(want), want)
	}
}

// code returns the code of a service's error.
func code(err error) string {
	var failure smithy.APIError
	if errors.As(err, &failure) {
		return failure.ErrorCode()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (s *server) wantFiles(want int) {
	s.t.Helper()
	names, err := s.store.files.fs.List(s.store.files.dir)
	if err != nil || len(names) != want {
		s.t.Errorf("there are %d files (%v), want %d", len(names), err, want)
	}
}

func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	if got := code(err); got != want {
		t.Errorf("got the code %q (%v), want %q", got, err, want)
	}
}

// signed returns a signed request. change runs before it is signed.
func (s *server) signed(method, path, body string, change func(*http.Request)) *http.Request {
	s.t.Helper()
	r := s.unsigned(method, path, body)
	sum := sha256.Sum256([]byte(body))
	r.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	if change != nil {
		change(r)
	}
	s.sign(r, SecretKey, time.Now())
	return r
}

func (s *server) unsigned(method, path, body string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func noDoubleEscape(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }

func (s *server) sign(r *http.Request, secret string, at time.Time) {
	s.t.Helper()
	keys := aws.Credentials{AccessKeyID: AccessKeyID, SecretAccessKey: secret}
	err := v4.NewSigner().SignHTTP(s.t.Context(), keys, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", region, at, noDoubleEscape)
	if err != nil {
		s.t.Fatal(err)
	}
}

// answer is a response whose body was read.
type answer struct {
	*http.Response

	text string
}

func (s *server) do(r *http.Request) answer {
	s.t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response, string(text)}
}

// want checks the status of a response and, unless it is empty, a part of the body.
func (s *server) want(r *http.Request, status int, part string) answer {
	s.t.Helper()
	a := s.do(r)
	if a.StatusCode != status || !strings.Contains(a.text, part) {
		s.t.Errorf("%s %s: got %d %s, want %d %s", r.Method, r.URL.Path, a.StatusCode, a.text, status, part)
	}
	return a
}

// presign returns a presigned PUT of an object with the headers that it signs.
func (s *server) presign(change func(*sdk.PutObjectInput)) (url string, header http.Header) {
	s.t.Helper()
	in := &sdk.PutObjectInput{Bucket: aws.String("bkt"), Key: aws.String("upload")}
	if change != nil {
		change(in)
	}
	out, err := sdk.NewPresignClient(s.Client).PresignPutObject(context.WithoutCancel(s.t.Context()), in, sdk.WithPresignExpires(time.Minute))
	if err != nil {
		s.t.Fatal(err)
	}
	return out.URL, out.SignedHeader
}

// patience is the maximum time to wait for something, on a busy machine.
const patience = 30 * time.Second
