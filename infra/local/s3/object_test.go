package s3

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"devplatform/infra/local/datafolder/disktest"
)

func TestObject(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	key := "folder/ä b+c%20?&=.txt"
	sum := sha256.Sum256([]byte("content"))
	put, err := s.PutObject(t.Context(), &sdk.PutObjectInput{
		Bucket: aws.String("bkt"), Key: &key, Body: strings.NewReader("content"), ContentType: aws.String("text/plain"),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum[:])), CacheControl: aws.String("no-store"),
		Metadata: map[string]string{"owner": "ada", "empty": ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.GetObject(t.Context(), &sdk.GetObjectInput{
		Bucket: aws.String("bkt"), Key: &key, ChecksumMode: types.ChecksumModeEnabled, ResponseContentDisposition: aws.String("attachment"),
	})
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(got.Body)
	if err != nil || string(content) != "content" {
		t.Errorf("got %q, %v", content, err)
	}
	for name, pair := range map[string][2]string{
		"entity tag":  {*got.ETag, `"9a0364b9e99bb480dd25e1f0284c8555"`},
		"put's tag":   {*put.ETag, *got.ETag},
		"type":        {*got.ContentType, "text/plain"},
		"caching":     {*got.CacheControl, "no-store"},
		"metadata":    {fmt.Sprint(got.Metadata), "map[empty: owner:ada]"},
		"disposition": {aws.ToString(got.ContentDisposition), "attachment"},
		"checksum":    {aws.ToString(got.ChecksumSHA256), base64.StdEncoding.EncodeToString(sum[:])},
		"length":      {fmt.Sprint(*got.ContentLength), "7"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q, want %q", name, pair[0], pair[1])
		}
	}
	if _, err := s.DeleteObject(t.Context(), &sdk.DeleteObjectInput{Bucket: aws.String("bkt"), Key: &key}); err != nil {
		t.Error(err)
	}
	_, err = s.get(key)
	wantCode(t, err, "NoSuchKey")
	_, err = s.HeadObject(t.Context(), &sdk.HeadObjectInput{Bucket: aws.String("bkt"), Key: &key})
	wantCode(t, err, "NotFound")
	_, err = s.HeadBucket(t.Context(), &sdk.HeadBucketInput{Bucket: aws.String("none")})
	wantCode(t, err, "NotFound")
	if names, err := s.store.files.fs.List(s.store.files.dir); err != nil || len(names) != 0 {
		t.Errorf("files left: %v, %v", names, err)
	}
}

// An object replaces the one before it as a whole. A reader of the old one can finish.
func TestReplace(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	old := strings.Repeat("old ", 1<<20)
	s.put("k", old)
	reader, err := s.GetObject(t.Context(), &sdk.GetObjectInput{Bucket: aws.String("bkt"), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	s.put("k", "new")
	s.wantContent("k", "new")
	if content, err := io.ReadAll(reader.Body); err != nil || string(content) != old {
		t.Errorf("the reader got %d bytes, %v", len(content), err)
	}
}

func TestRange(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.put("k", "0123456789")
	for header, want := range map[string]struct {
		status         int
		body, contents string
	}{
		"bytes=2-4":       {206, "234", "bytes 2-4/10"},
		"bytes=8-99":      {206, "89", "bytes 8-9/10"},
		"bytes=8-":        {206, "89", "bytes 8-9/10"},
		"bytes=-3":        {206, "789", "bytes 7-9/10"},
		"bytes=-99":       {206, "0123456789", "bytes 0-9/10"},
		"bytes=10-":       {416, "InvalidRange", ""},
		"bytes=-0":        {416, "InvalidRange", ""},
		"bytes=4-2":       {200, "0123456789", ""},
		"bytes=1-2,4-5":   {200, "0123456789", ""},
		"bytes=a-b":       {200, "0123456789", ""},
		"lines=1-2":       {200, "0123456789", ""},
		"bytes=+1-2":      {200, "0123456789", ""},
		"bytes=1-2\t":     {206, "12", "bytes 1-2/10"},
		"bytes=0-0":       {206, "0", "bytes 0-0/10"},
		"bytes=9-9999999": {206, "9", "bytes 9-9/10"},
	} {
		a := s.want(s.signed(http.MethodGet, "/bkt/k", "", func(r *http.Request) { r.Header.Set("Range", header) }), want.status, want.body)
		if got := a.Header.Get("Content-Range"); got != want.contents {
			t.Errorf("%s: Content-Range is %q, want %q", header, got, want.contents)
		}
		if want.status < 400 && a.text != want.body {
			t.Errorf("%s: got %q, want %q", header, a.text, want.body)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	etag := s.put("k", "one")
	const past, future = "Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2096 15:04:05 GMT"
	for _, tc := range []struct {
		method, key, header, value string
		status                     int
		part                       string
	}{
		{"PUT", "k", "If-None-Match", "*", 412, "PreconditionFailed"},
		{"PUT", "k", "If-None-Match", etag, 501, "NotImplemented"},
		{"PUT", "k", "If-Match", etag, 501, "header if-match of PutObject"},
		{"DELETE", "k", "If-Match", etag, 501, "header if-match of DeleteObject"},
		{"GET", "k", "If-Match", etag, 200, "one"},
		{"GET", "k", "If-Match", `"other"`, 412, "PreconditionFailed"},
		{"GET", "k", "If-None-Match", etag, 304, ""},
		{"GET", "k", "If-None-Match", `"other"`, 200, "one"},
		{"GET", "k", "If-Modified-Since", future, 304, ""},
		{"GET", "k", "If-Modified-Since", past, 200, "one"},
		{"GET", "k", "If-Unmodified-Since", past, 412, "PreconditionFailed"},
		{"GET", "k", "If-Unmodified-Since", future, 200, "one"},
		{"HEAD", "k", "If-None-Match", etag, 304, ""},
		{"PUT", "new", "If-None-Match", "*", 200, ""},
	} {
		s.want(s.signed(tc.method, "/bkt/"+tc.key, "", func(r *http.Request) { r.Header.Set(tc.header, tc.value) }), tc.status, tc.part)
	}
}

// lateBody is a body that is sent when the bodies of all writers are wanted.
type lateBody struct {
	wanted *sync.WaitGroup
	once   sync.Once
	strings.Reader
}

func (b *lateBody) Read(p []byte) (int, error) {
	b.once.Do(b.wanted.Done)
	b.wanted.Wait()
	return b.Reader.Read(p)
}

// Of many writers that each want to create an object, and begin when there is none, one succeeds.
func TestConditionalRace(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	defer transport.CloseIdleConnections()
	results := make(chan int)
	const writers = 20
	var wanted sync.WaitGroup
	wanted.Add(writers)
	for range writers {
		body := &lateBody{wanted: &wanted, Reader: *strings.NewReader("x")}
		r := s.signed(http.MethodPut, "/bkt/k", "", func(r *http.Request) {
			r.Header.Set("If-None-Match", "*")
			r.Header.Set("Expect", "100-continue") // the server asks for the body when it has looked for the object
			r.Header.Set("X-Amz-Content-Sha256", unsignedPayload)
			r.Body, r.ContentLength = io.NopCloser(body), 1
		})
		go func() {
			response, err := transport.RoundTrip(r)
			if err != nil {
				t.Error(err)
				results <- 0
				return
			}
			_ = response.Body.Close()
			results <- response.StatusCode
		}()
	}
	counts := map[int]int{}
	for range writers {
		counts[<-results]++
	}
	if counts[http.StatusOK] != 1 || counts[http.StatusPreconditionFailed] != writers-1 {
		t.Errorf("the responses are %v", counts)
	}
	s.wantFiles(1)
}

func TestDeleteObjects(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	var ids []types.ObjectIdentifier
	for i := range 20 {
		key := fmt.Sprintf("k<%d>", i)
		s.put(key, "x")
		ids = append(ids, types.ObjectIdentifier{Key: &key})
	}
	s.put("keep", "x")
	ids = append(ids, types.ObjectIdentifier{Key: aws.String("none")})
	out, err := s.DeleteObjects(t.Context(), &sdk.DeleteObjectsInput{Bucket: aws.String("bkt"), Delete: &types.Delete{Objects: ids}})
	if err != nil || len(out.Deleted) != 21 || len(out.Errors) != 0 {
		t.Fatalf("got %+v, %v", out, err)
	}
	list, err := s.ListObjectsV2(t.Context(), &sdk.ListObjectsV2Input{Bucket: aws.String("bkt")})
	if err != nil || len(list.Contents) != 1 || *list.Contents[0].Key != "keep" {
		t.Errorf("left: %+v, %v", list, err)
	}
	_, err = s.DeleteObjects(t.Context(), &sdk.DeleteObjectsInput{
		Bucket: aws.String("bkt"), Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: aws.String("keep"), VersionId: aws.String("1")}}},
	})
	wantCode(t, err, "NotImplemented")
	s.wantContent("keep", "x")
}

func TestList(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	for _, key := range []string{"a", "a/", "a/b", "a/c/d", "a/c/e", "b", "ba/x", "z<&>\u00fc"} {
		s.put(key, "x")
	}
	for _, tc := range []struct{ prefix, delimiter, startAfter, want string }{
		{"", "", "", "a a/ a/b a/c/d a/c/e b ba/x z<&>ü"},
		{"", "/", "", "a b z<&>ü | a/ ba/"},
		{"a/", "/", "", "a/ a/b | a/c/"},
		{"a/c", "/", "", " | a/c/"},
		{"b", "", "", "b ba/x"},
		{"", "", "a/b", "a/c/d a/c/e b ba/x z<&>ü"},
		{"", "/", "a/b", "b z<&>ü | a/ ba/"},
		{"none", "", "", ""},
		{"a/", "", "b", ""},
	} {
		for _, page := range []int32{1, 2, 1000} {
			var keys, prefixes []string
			pages := sdk.NewListObjectsV2Paginator(s.Client, &sdk.ListObjectsV2Input{
				Bucket: aws.String("bkt"), Prefix: &tc.prefix, Delimiter: &tc.delimiter, StartAfter: &tc.startAfter, MaxKeys: &page,
			})
			for pages.HasMorePages() {
				out, err := pages.NextPage(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range out.Contents {
					keys = append(keys, *o.Key)
				}
				for _, p := range out.CommonPrefixes {
					prefixes = append(prefixes, *p.Prefix)
				}
				if int(*out.KeyCount) > int(page) || int(*out.KeyCount) != len(out.Contents)+len(out.CommonPrefixes) {
					t.Errorf("%+v: a page has %d keys", tc, *out.KeyCount)
				}
			}
			got := strings.Join(keys, " ")
			if prefixes != nil {
				got += " | " + strings.Join(prefixes, " ")
			}
			if got != tc.want {
				t.Errorf("%+v in pages of %d: got %q", tc, page, got)
			}
		}
	}
	out, err := s.ListObjectsV2(t.Context(), &sdk.ListObjectsV2Input{Bucket: aws.String("bkt"), EncodingType: types.EncodingTypeUrl, Prefix: aws.String("z")})
	if err != nil || *out.Contents[0].Key != "z%3C%26%3E%C3%BC" {
		t.Errorf("url-encoded: %+v, %v", out, err)
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.put("k", "x")
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, tc := range []struct {
		method, path string
		change       func(*http.Request)
		status       int
		part         string
	}{
		{"GET", "/bkt/k?acl", nil, 501, "query parameter acl of GetObject"},
		{"GET", "/bkt/k?versionId=1", nil, 501, "versionId"},
		{"GET", "/bkt", nil, 501, "does not support this operation"},
		{"PUT", "/bkt/k?tagging", nil, 501, "tagging"},
		{"POST", "/bkt/k?uploads", nil, 501, "uploads"},
		{"PUT", "/bkt/k?partNumber=1&uploadId=u", nil, 501, "of PutObject"},
		{"PUT", "/bkt/k", header("x-amz-acl", "public-read"), 501, "x-amz-acl of PutObject"},
		{"PUT", "/bkt/k", header("x-amz-tagging", "a=b"), 501, "x-amz-tagging"},
		{"PUT", "/bkt/k", header("x-amz-copy-source", "bkt/k"), 501, "x-amz-copy-source of PutObject"},
		{"PUT", "/bkt/k", header("x-amz-storage-class", "STANDARD"), 501, "x-amz-storage-class of PutObject"},
		{"PUT", "/bkt/k", header("x-amz-server-side-encryption", "aws:kms"), 501, "x-amz-server-side-encryption"},
		{"GET", "/bkt/k", header("x-amz-expected-bucket-owner", "999"), 501, "x-amz-expected-bucket-owner"},
		{"PATCH", "/bkt/k", nil, 501, "does not support this operation"},
		{"PUT", "/bkt/" + strings.Repeat("k", 1025), nil, 400, "KeyTooLongError"},
		{"PUT", "/B_", nil, 400, "InvalidBucketName"},
		{"GET", "/none/k", nil, 404, "NoSuchBucket"},
	} {
		s.want(s.signed(tc.method, tc.path, "", tc.change), tc.status, tc.part)
	}
	s.wantContent("k", "x")
}

// Every response forbids scripts: a page in a bucket must not reach the other services of the port.
func TestSandbox(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.put("page.html", "<script></script>")
	for _, path := range []string{"/bkt/page.html", "/bkt/none", "/bkt?list-type=2"} {
		if got := s.do(s.signed(http.MethodGet, path, "", nil)).Header.Get("Content-Security-Policy"); got != "sandbox" {
			t.Errorf("%s: Content-Security-Policy is %q", path, got)
		}
	}
}

// An object of 25 MiB, which needs several reads and writes of the disk, is stored completely.
func TestLarge(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Folder: disktest.Open(t, filepath.Join(t.TempDir(), "data"), nil)})
	content := bytes.Repeat([]byte("0123456789abcdef"), 25<<16)
	_, err := s.PutObject(t.Context(), &sdk.PutObjectInput{Bucket: aws.String("bkt"), Key: aws.String("k"), Body: bytes.NewReader(content)})
	if err != nil {
		t.Fatal(err)
	}
	s.wantContent("k", string(content))
}

// A client that sends the header Expect, but sends a large body without waiting, gets the error of a refused request. A
// client that waits gets it, too, and is not asked for the body.
func TestExpect(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.put("k", "in the way")
	refused := func() *http.Request {
		return s.signed(http.MethodPut, "/bkt/k", strings.Repeat("x", 8<<20), func(r *http.Request) {
			r.Header.Set("If-None-Match", "*")
			r.Header.Set("Expect", "100-continue")
		})
	}
	for name, size := range map[string]int{"waits": 0, "does not wait": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			var request bytes.Buffer
			if err := refused().Write(&request); err != nil {
				t.Fatal(err)
			}
			request.Truncate(request.Len() - 8<<20 + size)
			if _, err := request.WriteTo(conn); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusPreconditionFailed {
				t.Errorf("got the status %s", response.Status)
			}
		})
	}
}
