package s3

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"

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
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", setHeader("X-Amz-Trailer", "x-amz-checksum-crc32")), 501, "x-amz-trailer of PutObject")
	chunked := "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	s.want(s.signed(http.MethodPut, "/bkt/k", "content", setHeader("X-Amz-Content-Sha256", chunked)), 501, chunked)
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
