package s3

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// withCORS lets pages of one origin upload and download, and pages of all origins read.
func (s *server) withCORS() []types.CORSRule {
	s.t.Helper()
	rules := []types.CORSRule{
		{
			AllowedOrigins: []string{"https://app.example", "https://*.app.example"}, AllowedMethods: []string{"PUT", "GET"},
			AllowedHeaders: []string{"x-amz-*", "Content-Type", "if-none-match"}, ExposeHeaders: []string{"ETag"}, MaxAgeSeconds: aws.Int32(60),
		},
		{AllowedOrigins: []string{"*"}, AllowedMethods: []string{"HEAD"}},
	}
	_, err := s.PutBucketCors(s.t.Context(), &sdk.PutBucketCorsInput{
		Bucket: aws.String("bkt"), CORSConfiguration: &types.CORSConfiguration{CORSRules: rules},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return rules
}

func TestCORSConfiguration(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	_, err := s.GetBucketCors(t.Context(), &sdk.GetBucketCorsInput{Bucket: aws.String("bkt")})
	wantCode(t, err, "NoSuchCORSConfiguration")
	rules := s.withCORS()
	got, err := s.GetBucketCors(t.Context(), &sdk.GetBucketCorsInput{Bucket: aws.String("bkt")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rules, got.CORSRules, cmpopts.IgnoreUnexported(types.CORSRule{})); diff != "" {
		t.Error(diff)
	}
	for name, rule := range map[string]types.CORSRule{
		"method":   {AllowedOrigins: []string{"*"}, AllowedMethods: []string{"PATCH"}},
		"wildcard": {AllowedOrigins: []string{"https://*.*"}, AllowedMethods: []string{"GET"}},
	} {
		_, err := s.PutBucketCors(t.Context(), &sdk.PutBucketCorsInput{
			Bucket: aws.String("bkt"), CORSConfiguration: &types.CORSConfiguration{CORSRules: []types.CORSRule{rule}},
		})
		if code(err) != "InvalidRequest" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = s.DeleteBucketCors(t.Context(), &sdk.DeleteBucketCorsInput{Bucket: aws.String("bkt")})
	wantCode(t, err, "")
	_, err = s.GetBucketCors(t.Context(), &sdk.GetBucketCorsInput{Bucket: aws.String("bkt")})
	wantCode(t, err, "NoSuchCORSConfiguration")
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.withCORS()
	for _, tc := range []struct {
		origin, method, headers string
		status                  int
		allowed                 string
	}{
		{"https://app.example", "PUT", "x-amz-checksum-sha256, content-type", 200, "https://app.example"},
		{"https://a.app.example", "PUT", "", 200, "https://a.app.example"},
		{"https://app.example", "GET", "", 200, "https://app.example"},
		{"https://evil.example", "HEAD", "", 200, "*"},
		{"https://app.example", "DELETE", "", 403, ""},
		{"https://app.example", "PUT", "authorization", 403, ""},
		{"https://evil.example", "PUT", "", 403, ""},
		{"https://evilapp.example", "PUT", "", 403, ""},
		{"", "PUT", "", 400, ""},
	} {
		r := s.unsigned(http.MethodOptions, "/bkt/k", "")
		for name, value := range map[string]string{
			"Origin": tc.origin, "Access-Control-Request-Method": tc.method, "Access-Control-Request-Headers": tc.headers,
		} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		a := s.want(r, tc.status, "")
		if got := a.Header.Get("Access-Control-Allow-Origin"); got != tc.allowed {
			t.Errorf("%+v: Access-Control-Allow-Origin is %q", tc, got)
		}
		if tc.status == 200 && !strings.Contains(a.Header.Get("Access-Control-Allow-Methods"), tc.method) {
			t.Errorf("%+v: got %v", tc, a.Header)
		}
		if got := a.Header.Get("Access-Control-Allow-Headers"); tc.status == 200 && got != tc.headers {
			t.Errorf("%+v: Access-Control-Allow-Headers is %q", tc, got)
		}
	}
	r := s.unsigned(http.MethodOptions, "/none/k", "")
	r.Header.Set("Origin", "https://app.example")
	r.Header.Set("Access-Control-Request-Method", "PUT")
	s.want(r, http.StatusForbidden, "AccessForbidden")
}

// A page knows the credentials. It can use a presigned URL only as the bucket's rules allow, and no other signature.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.withCORS()
	from := func(r *http.Request, origin string) *http.Request {
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		return r
	}
	s.want(from(s.signed(http.MethodPut, "/bkt/upload", "x", nil), "https://app.example"), http.StatusForbidden, "AccessForbidden")
	s.want(from(s.presigned("content", 7), "https://evil.example"), http.StatusForbidden, "AccessForbidden")
	if _, err := s.get("upload"); code(err) != "NoSuchKey" {
		t.Errorf("after the refusals: %v", err)
	}
	a := s.want(from(s.presigned("content", 7), "https://app.example"), http.StatusOK, "")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "https://app.example", "Access-Control-Expose-Headers": "ETag", "Access-Control-Max-Age": "60",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// Errors have the headers, too, so that the page sees them.
	a = s.want(from(s.presigned("content", 7), "https://app.example"), http.StatusPreconditionFailed, "")
	if got := a.Header.Get("Access-Control-Allow-Origin"); got != "https://app.example" {
		t.Errorf("of an error, Access-Control-Allow-Origin is %q", got)
	}
	// A page of another origin may show an object, and cannot read it.
	url := must(sdk.NewPresignClient(s.Client).PresignGetObject(t.Context(), &sdk.GetObjectInput{Bucket: aws.String("bkt"), Key: aws.String("upload")})).URL
	a = s.want(from(must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)), "https://evil.example"), http.StatusOK, "content")
	if got := a.Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("for another origin, Access-Control-Allow-Origin is %q", got)
	}
}
