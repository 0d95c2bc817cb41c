package s3

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
)

// TestSignatureExamples checks signatures against the examples in S3's documentation, whose keys are public.
func TestSignatureExamples(t *testing.T) {
	t.Parallel()
	scope := "20130524/us-east-1/s3/aws4_request"
	key := []byte("AWS4wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
	for part := range strings.SplitSeq(scope, "/") {
		key = hmacSHA256(key, part)
	}
	s := signer{key: key, time: "20130524T000000Z", scope: scope}
	emptySHA256 := hexSHA256("")
	q := &request{Request: &http.Request{Method: http.MethodGet, Host: "examplebucket.s3.amazonaws.com", Header: http.Header{
		"Range": {"bytes=0-9"}, "X-Amz-Content-Sha256": {emptySHA256}, "X-Amz-Date": {"20130524T000000Z"},
	}}, payload: emptySHA256}
	q.URL = must(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/test.txt", nil)).URL
	got := s.sign(q.canonical([]string{"host", "range", "x-amz-content-sha256", "x-amz-date"}))
	if want := "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"; got != want {
		t.Errorf("the signature of GET is %s, want %s", got, want)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestSignatureInHeader(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.put("k", "x")
	for name, tc := range map[string]struct {
		before, after func(*http.Request)
		status        int
		part          string
	}{
		"valid":                {nil, nil, 200, "x"},
		"no signature":         {nil, func(r *http.Request) { r.Header.Del("Authorization") }, 403, "AccessDenied"},
		"another secret":       {nil, func(r *http.Request) { s.sign(r, "other", time.Now()) }, 403, "SignatureDoesNotMatch"},
		"another method":       {nil, func(r *http.Request) { r.Method = http.MethodDelete }, 403, "SignatureDoesNotMatch"},
		"another path":         {nil, func(r *http.Request) { r.URL.Path = "/bkt/l" }, 403, "SignatureDoesNotMatch"},
		"another query":        {nil, func(r *http.Request) { r.URL.RawQuery = "x-id=a" }, 403, "SignatureDoesNotMatch"},
		"another host":         {nil, func(r *http.Request) { r.Host = "localhost" }, 403, "SignatureDoesNotMatch"},
		"changed header":       {setHeader("Range", "bytes=0-0"), setHeader("Range", "bytes=0-1"), 403, "SignatureDoesNotMatch"},
		"dropped header":       {setHeader("Range", "bytes=0-0"), func(r *http.Request) { r.Header.Del("Range") }, 403, "SignatureDoesNotMatch"},
		"unsigned x-amz":       {nil, setHeader("X-Amz-Checksum-Mode", "ENABLED"), 403, "not signed: x-amz-checksum-mode"},
		"changed content hash": {nil, setHeader("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"), 403, "SignatureDoesNotMatch"},
		"old":                  {nil, func(r *http.Request) { s.sign(r, SecretKey, time.Now().Add(-16*time.Minute)) }, 403, "RequestTimeTooSkewed"},
		"from the future":      {nil, func(r *http.Request) { s.sign(r, SecretKey, time.Now().Add(16*time.Minute)) }, 403, "RequestTimeTooSkewed"},
		"another date":         {nil, func(r *http.Request) { r.Header.Set("X-Amz-Date", "yesterday") }, 403, "AccessDenied"},
		"another key":          {nil, replaceInHeader("Credential=local/", "Credential=other/"), 403, "InvalidAccessKeyId"},
		"another region":       {nil, replaceInHeader("us-east-1", "us-east-2"), 400, "AuthorizationHeaderMalformed"},
		"another service":      {nil, replaceInHeader("/s3/", "/sqs/"), 400, "AuthorizationHeaderMalformed"},
		"no host":              {nil, replaceInHeader("SignedHeaders=host;", "SignedHeaders="), 400, "AuthorizationHeaderMalformed"},
		"version 2":            {nil, setHeader("Authorization", "AWS local:c2ln"), 400, "use AWS4-HMAC-SHA256"},
		"garbage":              {nil, setHeader("Authorization", "AWS4-HMAC-SHA256 ,=,"), 400, "AuthorizationHeaderMalformed"},
		"session token":        {setHeader("X-Amz-Security-Token", "t"), nil, 400, "InvalidToken"},
		"no content hash":      {func(r *http.Request) { r.Header.Del("X-Amz-Content-Sha256") }, nil, 400, "x-amz-content-sha256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.signed(http.MethodGet, "/bkt/k", "", tc.before)
			if tc.after != nil {
				tc.after(r)
			}
			s.want(r, tc.status, tc.part)
		})
	}
}

func setHeader(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func replaceInHeader(old, replacement string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), old, replacement, 1))
	}
}

// presigned returns the request of a presigned PUT, as API clients get it: a URL and headers.
func (s *server) presigned(content string, announce int64) *http.Request {
	sum := sha256.Sum256([]byte(content))
	url, header := s.presign(func(in *sdk.PutObjectInput) {
		in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(sum[:]))
		in.ContentLength, in.IfNoneMatch = aws.Int64(announce), aws.String("*")
	})
	r := must(http.NewRequestWithContext(s.t.Context(), http.MethodPut, url, strings.NewReader(content)))
	r.Header = header
	r.Header.Del("Host")
	return r
}

// TestPresigned checks that the holder of a presigned URL can upload exactly the announced content, and once.
func TestPresigned(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*http.Request)
		status int
		part   string
	}{
		"as announced":         {nil, 200, ""},
		"no if-none-match":     {func(r *http.Request) { r.Header.Del("If-None-Match") }, 403, "SignatureDoesNotMatch"},
		"other if-none-match":  {setHeader("If-None-Match", "x"), 403, "SignatureDoesNotMatch"},
		"no checksum":          {func(r *http.Request) { r.Header.Del("X-Amz-Checksum-Sha256") }, 403, "SignatureDoesNotMatch"},
		"other checksum":       {setHeader("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(make([]byte, 32))), 403, "SignatureDoesNotMatch"},
		"other content":        {replaceBody("CONTENT"), 400, "BadDigest"},
		"longer content":       {replaceBody("content and more"), 403, "SignatureDoesNotMatch"},
		"shorter content":      {replaceBody("con"), 403, "SignatureDoesNotMatch"},
		"unknown length":       {func(r *http.Request) { r.ContentLength = -1 }, 403, "SignatureDoesNotMatch"},
		"another x-amz header": {setHeader("X-Amz-Meta-Owner", "eve"), 403, "not signed: x-amz-meta-owner"},
		"another key":          {func(r *http.Request) { r.URL.Path = "/bkt/other" }, 403, "SignatureDoesNotMatch"},
		"another method":       {func(r *http.Request) { r.Method = http.MethodDelete }, 403, "SignatureDoesNotMatch"},
		"longer life":          {changeQuery("X-Amz-Expires", "3600"), 403, "SignatureDoesNotMatch"},
		"life of over a week":  {changeQuery("X-Amz-Expires", "604801"), 400, "X-Amz-Expires"},
		"another algorithm":    {changeQuery("X-Amz-Algorithm", "AWS4-ECDSA-P256-SHA256"), 400, "AuthorizationQueryParametersError"},
		"version 2":            {func(r *http.Request) { r.URL.RawQuery = "AWSAccessKeyId=local&Signature=x&Expires=9999999999" }, 400, "use AWS4-HMAC-SHA256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{})
			r := s.presigned("content", 7)
			if tc.change != nil {
				tc.change(r)
			}
			s.want(r, tc.status, tc.part)
			if tc.status == http.StatusOK {
				s.want(s.presigned("content", 7), http.StatusPreconditionFailed, "PreconditionFailed")
				s.wantContent("upload", "content")
			} else if _, err := s.get("upload"); code(err) != "NoSuchKey" {
				t.Errorf("after the refusal: %v", err)
			}
		})
	}
}

func replaceBody(content string) func(*http.Request) {
	return func(r *http.Request) {
		replaced := must(http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), strings.NewReader(content)))
		r.Body, r.ContentLength = replaced.Body, replaced.ContentLength
	}
}

func changeQuery(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		query := r.URL.Query()
		query.Set(name, value)
		r.URL.RawQuery = query.Encode()
	}
}

func TestPresignedGet(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := start(t, Options{Now: func() time.Time { return now }})
	s.put("k", "content")
	out, err := sdk.NewPresignClient(s.Client).PresignGetObject(t.Context(), &sdk.GetObjectInput{
		Bucket: aws.String("bkt"), Key: aws.String("k"), ResponseContentDisposition: aws.String(`attachment; filename="a b"`), ChecksumMode: "ENABLED",
	}, sdk.WithPresignExpires(5*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	download := func(change string) *http.Request {
		return must(http.NewRequestWithContext(t.Context(), http.MethodGet, out.URL+change, nil))
	}
	a := s.want(download(""), http.StatusOK, "content")
	if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="a b"` {
		t.Errorf("Content-Disposition is %q", got)
	}
	if a.Header.Get("X-Amz-Checksum-Crc64nvme") == "" { // the header that asks for it is in the query
		t.Errorf("no checksum: %v", a.Header)
	}
	s.want(download("&response-content-type=text/html"), http.StatusForbidden, "SignatureDoesNotMatch")
	r := download("")
	r.Header.Set("Range", "bytes=1-2") // a header that is not signed is allowed
	s.want(r, http.StatusPartialContent, "on")
	now = now.Add(5*time.Minute + time.Second)
	s.want(download(""), http.StatusForbidden, "Request has expired")
	now = now.Add(-time.Hour)
	s.want(download(""), http.StatusForbidden, "Request is not yet valid")
}

// A presigned URL may determine the content of the request.
func TestPresignedContentHash(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	hash := hexSHA256("content")
	r := s.unsigned(http.MethodPut, "/bkt/upload?X-Amz-Expires=60&X-Amz-Content-Sha256="+hash, "")
	keys := aws.Credentials{AccessKeyID: AccessKeyID, SecretAccessKey: SecretKey}
	url, _, err := v4.NewSigner().PresignHTTP(t.Context(), keys, r, hash, "s3", region, time.Now(), noDoubleEscape)
	if err != nil {
		t.Fatal(err)
	}
	upload := func(content string) *http.Request {
		return must(http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(content)))
	}
	s.want(upload("other"), http.StatusBadRequest, "XAmzContentSHA256Mismatch")
	s.want(upload("content"), http.StatusOK, "")
	s.wantContent("upload", "content")
}

func FuzzSignature(f *testing.F) {
	f.Add("GET", "/bkt/k", "AWS4-HMAC-SHA256 Credential=local/20130524/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
	f.Add("GET", "/bkt/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=1&X-Amz-Date=20130524T000000Z&X-Amz-SignedHeaders=host", "")
	f.Add("PUT", "/%ff/;?%zz", "AWS4-HMAC-SHA256 ")
	store, err := Open(Options{Now: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, target, authorization string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+target, http.NoBody)
		if err != nil {
			t.Skip()
		}
		r.Header.Set("Authorization", authorization)
		q := &request{Request: r, store: store, now: time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)}
		if err := q.parse(); err != nil {
			return
		}
		if q.authenticate() == nil {
			t.Errorf("%s %s %s is authenticated", method, target, authorization)
		}
	})
}
