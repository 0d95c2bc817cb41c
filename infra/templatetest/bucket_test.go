package templatetest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Only pages of the service's origins can upload to the bucket. Without an origin, the bucket has no CORS rule.
func TestOriginsOfBucket(t *testing.T) {
	t.Parallel()
	const domain = " DomainName=api.example.com CertificateArn=arn:aws:acm:us-east-1:123456789012:certificate/1234"
	for parameters, want := range map[string][]string{
		"":                               nil,
		"AppUrl=https://app.example.com": {"https://app.example.com"},
		domain:                           {"https://api.example.com"},
		"AppUrl=https://app.example.com" + domain:                              {"https://app.example.com"},
		"AllowedOrigins=https://a.example":                                     {"https://a.example"},
		"AllowedOrigins=https://a.example,https://b.example":                   {"https://a.example", "https://b.example"},
		"AllowedOrigins=https://a.example,https://b.example" + domain:          {"https://api.example.com", "https://a.example", "https://b.example"},
		"AppUrl=https://app.example.com AllowedOrigins=https://a.example:8443": {"https://app.example.com", "https://a.example:8443"},
	} {
		values := map[string]string{}
		for pair := range strings.FieldsSeq(parameters) {
			name, value, _ := strings.Cut(pair, "=")
			values[name] = value
		}
		loaded, err := loadTemplate(values)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rule := range loaded.Buckets[0].CORS {
			got = append(got, rule.AllowedOrigins...)
			if !slices.Contains(rule.AllowedMethods, http.MethodPut) || slices.Contains(rule.AllowedHeaders, "*") {
				t.Errorf("%q: got the rule %+v, want one with PUT and without other headers", parameters, rule)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: origins: mismatch (-want +got):\n%s", parameters, diff)
		}
	}
}
