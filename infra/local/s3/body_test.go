package s3

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// sum returns the checksum of a text.
func sum(algorithm *algorithm, text string) string {
	h := algorithm.new()
	_, _ = io.WriteString(h, text)
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// TestAlgorithms compares the check values of the algorithms: https://reveng.sourceforge.io/crc-catalogue
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"CRC32": "cbf43926", "CRC32C": "e3069283", "CRC64NVME": "ae8b14860a799888",
		"SHA1":   "f7c3bc1d808e04732adf679965ccc34ca7ae3441",
		"SHA256": "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
	} {
		raw := must(base64.StdEncoding.DecodeString(sum(algorithmNamed(name), "123456789")))
		if got := hex.EncodeToString(raw); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// TestChecksums uploads with every algorithm of the SDK, and with wrong checksums.
func TestChecksums(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	for _, a := range algorithms {
		_, err := s.PutObject(t.Context(), &sdk.PutObjectInput{
			Bucket: aws.String("bkt"), Key: &a.name, Body: strings.NewReader("content"), ChecksumAlgorithm: types.ChecksumAlgorithm(a.name),
		})
		if err != nil {
			t.Fatal(err)
		}
		s.wantContent(a.name, "content") // the SDK verifies the checksum
		got := s.do(s.signed(http.MethodGet, "/bkt/"+a.name, "", setHeader("X-Amz-Checksum-Mode", "ENABLED")))
		if got.Header.Get(a.header()) != sum(a, "content") {
			t.Errorf("%s: got %v", a.name, got.Header)
		}
		for value, want := range map[string]string{sum(a, "other"): "BadDigest", "AAAA": "InvalidRequest", "?": "InvalidRequest"} {
			s.want(s.signed(http.MethodPut, "/bkt/k", "content", setHeader(a.header(), value)), 400, want)
		}
	}
	md5Of := func(text string) string {
		sum := md5.Sum([]byte(text))
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	twice := func(r *http.Request) {
		r.Header.Set("X-Amz-Checksum-Crc32", sum(algorithmNamed("CRC32"), "content"))
		r.Header.Set("X-Amz-Checksum-Sha1", sum(algorithmNamed("SHA1"), "content"))
	}
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", setHeader("Content-Md5", md5Of("other"))), 400, "BadDigest")
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", setHeader("Content-Md5", "?")), 400, "InvalidDigest")
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", setHeader("X-Amz-Content-Sha256", hexSHA256("other"))), 400, "XAmzContentSHA256Mismatch")
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", twice), 400, "Expecting a single")
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", setHeader("X-Amz-Sdk-Checksum-Algorithm", "SHA256")), 400, "no corresponding")
	another := func(r *http.Request) {
		r.Header.Set("X-Amz-Sdk-Checksum-Algorithm", "SHA1")
		r.Header.Set("X-Amz-Checksum-Crc32", sum(algorithmNamed("CRC32"), "content"))
	}
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", another), 400, "x-amz-sdk-checksum-algorithm")
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", setHeader("X-Amz-Trailer", "x-amz-checksum-crc32")), 400, "does not allow trailers")
	_, err := s.get("k")
	wantCode(t, err, "NoSuchKey")
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", setHeader("Content-Md5", md5Of("content"))), 200, "")
}

// The SDK's own default, which applications get if they load their configuration from the environment.
func TestSDKDefaults(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.Client = client(s.url, func(o *sdk.Options) {
		o.RequestChecksumCalculation, o.ResponseChecksumValidation = aws.RequestChecksumCalculationWhenSupported, aws.ResponseChecksumValidationWhenSupported
	})
	s.put("k", "content")
	s.wantContent("k", "content")
	got := s.do(s.signed(http.MethodGet, "/bkt/k", "", setHeader("X-Amz-Checksum-Mode", "ENABLED")))
	if got.Header.Get("X-Amz-Checksum-Crc32") != sum(algorithmNamed("CRC32"), "content") {
		t.Errorf("got %v", got.Header)
	}
}

// chunked is a body in the coding aws-chunked, before it is written.
type chunked struct {
	kind    string // x-amz-content-sha256
	chunks  []string
	trailer string // name:value of a checksum
	// spoil changes the coded body.
	spoil func(string) string
}

// request returns a signed PUT of the body.
func (c chunked) request(s *server, decoded int) *http.Request {
	now := time.Now()
	r := s.unsigned(http.MethodPut, "/bkt/chunked", "")
	r.Header.Set("X-Amz-Content-Sha256", c.kind)
	r.Header.Set("X-Amz-Decoded-Content-Length", fmt.Sprint(decoded))
	r.Header.Set("Content-Encoding", "aws-chunked")
	if c.trailer != "" {
		name, _, _ := strings.Cut(c.trailer, ":")
		r.Header.Set("X-Amz-Trailer", name)
	}
	s.sign(r, SecretKey, now)
	_, previous, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
	signer := newSigner(now.UTC().Format(timeFormat), now.UTC().Format("20060102")+"/us-east-1/s3/aws4_request")
	var body strings.Builder
	for _, chunk := range append(slices.Clip(c.chunks), "") {
		extension := ""
		if c.kind != streamUnsignedTrailer {
			previous = signer.sign("AWS4-HMAC-SHA256-PAYLOAD", previous, emptySHA256, hexSHA256(chunk))
			extension = ";chunk-signature=" + previous
		}
		fmt.Fprintf(&body, "%x%s\r\n", len(chunk), extension)
		if chunk != "" {
			body.WriteString(chunk + "\r\n")
		}
	}
	if c.trailer != "" {
		body.WriteString(c.trailer + "\r\n")
		if c.kind == streamSignedTrailer {
			body.WriteString("x-amz-trailer-signature:" + signer.sign("AWS4-HMAC-SHA256-TRAILER", previous, hexSHA256(c.trailer+"\n")) + "\r\n")
		}
	}
	body.WriteString("\r\n")
	text := body.String()
	if c.spoil != nil {
		text = c.spoil(text)
	}
	replaceBody(text)(r)
	return r
}

func replaceText(old, replacement string) func(string) string {
	return func(text string) string { return strings.Replace(text, old, replacement, 1) }
}

func TestChunked(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	chunks := []string{strings.Repeat("a", 64<<10), strings.Repeat("b", 8<<10), "end"}
	whole := strings.Join(chunks, "")
	crc32 := algorithmNamed("CRC32")
	trailer := "x-amz-checksum-crc32:" + sum(crc32, whole)
	for name, tc := range map[string]struct {
		body   chunked
		status int
		part   string
	}{
		"signed":                 {chunked{streamSigned, chunks, "", nil}, 200, ""},
		"signed with trailer":    {chunked{streamSignedTrailer, chunks, trailer, nil}, 200, ""},
		"unsigned with trailer":  {chunked{streamUnsignedTrailer, chunks, trailer, nil}, 200, ""},
		"crc64nvme":              {chunked{streamUnsignedTrailer, chunks, "x-amz-checksum-crc64nvme:" + sum(defaultAlgorithm, whole), nil}, 200, ""},
		"changed chunk":          {chunked{streamSigned, chunks, "", replaceText("aaa", "aab")}, 403, "SignatureDoesNotMatch"},
		"changed last chunk":     {chunked{streamSignedTrailer, chunks, trailer, replaceText("end", "END")}, 403, "SignatureDoesNotMatch"},
		"no chunk signature":     {chunked{streamSigned, chunks, "", replaceText(";chunk-signature=", ";x=")}, 403, "SignatureDoesNotMatch"},
		"changed trailer":        {chunked{streamSignedTrailer, chunks, trailer, replaceText(trailer, "x-amz-checksum-crc32:AAAAAA==")}, 403, "SignatureDoesNotMatch"},
		"no trailer signature":   {chunked{streamSignedTrailer, chunks, trailer, replaceText("x-amz-trailer-signature", "x-other")}, 403, "SignatureDoesNotMatch"},
		"wrong trailer":          {chunked{streamUnsignedTrailer, chunks, "x-amz-checksum-crc32:AAAAAA==", nil}, 400, "BadDigest"},
		"missing trailer":        {chunked{streamUnsignedTrailer, chunks, trailer, replaceText(trailer+"\r\n", "")}, 400, "BadDigest"},
		"unexpected trailer":     {chunked{streamSigned, chunks, "", func(text string) string { return strings.TrimSuffix(text, "\r\n") + "a:b\r\n\r\n" }}, 400, "aws-chunked"},
		"unknown trailer":        {chunked{streamUnsignedTrailer, chunks, "x-other:1", nil}, 400, "x-amz-trailer"},
		"changed unsigned chunk": {chunked{streamUnsignedTrailer, chunks, trailer, replaceText("end", "END")}, 400, "BadDigest"},
		"no end":                 {chunked{streamUnsignedTrailer, chunks, trailer, func(text string) string { return strings.TrimSuffix(text, "\r\n\r\n") }}, 400, "IncompleteBody"},
		"truncated":              {chunked{streamSigned, chunks, "", func(text string) string { return text[:len(text)/2] }}, 400, "IncompleteBody"},
		"no size":                {chunked{streamUnsignedTrailer, chunks, trailer, func(text string) string { return "x" + text }}, 400, "aws-chunked"},
		"negative size":          {chunked{streamUnsignedTrailer, chunks, trailer, func(text string) string { return "-1" + text }}, 400, "aws-chunked"},
		"long line":              {chunked{streamUnsignedTrailer, chunks, trailer, func(text string) string { return strings.Repeat("0", 9999) + text }}, 400, "aws-chunked"},
		"unknown kind":           {chunked{"STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", chunks, "", nil}, 501, "ECDSA"},
	} {
		t.Run(name, func(t *testing.T) {
			s.want(tc.body.request(s, len(whole)), tc.status, tc.part)
			if tc.status == http.StatusOK {
				s.wantContent("chunked", whole)
			} else if _, err := s.get("chunked"); code(err) != "NoSuchKey" {
				t.Errorf("after the refusal: %v", err)
			}
			if _, err := s.DeleteObject(t.Context(), &sdk.DeleteObjectInput{Bucket: aws.String("bkt"), Key: aws.String("chunked")}); err != nil {
				t.Fatal(err)
			}
		})
	}
	s.want(chunked{kind: streamSigned, chunks: chunks}.request(s, len(whole)-1), 400, "IncompleteBody")
	s.want(chunked{kind: streamSigned, chunks: chunks}.request(s, len(whole)+1), 400, "IncompleteBody")
}

// Any body in the coding is decoded to what it encodes, or refused.
func FuzzChunked(f *testing.F) {
	f.Add("3\r\nabc\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n")
	f.Add("0\r\n")
	f.Add("ffffffffffffffff\r\n")
	f.Fuzz(func(t *testing.T, body string) {
		q := &request{
			Request: &http.Request{Body: io.NopCloser(strings.NewReader(body))}, payload: streamUnsignedTrailer,
		}
		var got bytes.Buffer
		_, err := q.copyChunks(&got, int64(len(body)))
		var known *apiError
		if err != nil && !errors.As(err, &known) {
			t.Errorf("%q: %v", body, err)
		}
		if got.Len() > len(body) {
			t.Errorf("%q: decoded to %d bytes", body, got.Len())
		}
	})
}
