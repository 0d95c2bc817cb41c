package s3

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"devplatform/infra/local/datafolder"
)

type bucket struct {
	Created time.Time  `json:"created"`
	CORS    []corsRule `json:"cors,omitzero"`
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// changeBucket changes the record of the request's bucket. If the bucket does not exist, apply gets an empty record.
func (s *Store) changeBucket(q *request, apply func(*bucket)) error {
	key := indexKey(datafolder.SpaceBucket, q.bucket)
	return s.commit(func(c *change) error {
		var b bucket
		_, err := s.read(key, &b)
		apply(&b)
		c.set(key, b)
		return err
	}, key)
}

// createBucketDocument is the optional body of CreateBucket. The region in it is not checked.
type createBucketDocument struct {
	LocationConstraint string
	Unknown            []anyElement `xml:",any"`
}

func (*createBucketDocument) check() error { return nil }

// createBucket does nothing if the bucket exists, because all buckets have the same owner.
func (s *Store) createBucket(q *request) error {
	if !bucketName.MatchString(q.bucket) || strings.Contains(q.bucket, "..") {
		return errBucketName
	}
	if q.ContentLength != 0 {
		if err := q.readXML(&createBucketDocument{}); err != nil {
			return err
		}
	}
	q.w.Header().Set("Location", "/"+q.bucket)
	return s.changeBucket(q, func(b *bucket) {
		if b.Created.IsZero() {
			b.Created = q.now
		}
	})
}

func (s *Store) headBucket(q *request) error {
	q.w.Header().Set("X-Amz-Bucket-Region", s.options.Region)
	return nil
}

type (
	listBucketsResult struct {
		Buckets []listedBucket `xml:"Buckets>Bucket"`
	}
	listedBucket struct{ Name, CreationDate string }
)

func (s *Store) listBuckets(q *request) error {
	var result listBucketsResult
	err := scan(s, indexKey(datafolder.SpaceBucket), "", func(name string, b bucket) (string, error) {
		result.Buckets = append(result.Buckets, listedBucket{name, b.Created.Format(documentTime)})
		return "", nil
	})
	if err != nil {
		return err
	}
	return q.sendXML("ListAllMyBucketsResult", result)
}

type corsConfiguration struct {
	Rules   []corsRule   `xml:"CORSRule"`
	Unknown []anyElement `xml:",any"`
}

// corsRule lets pages of other origins use a bucket.
type corsRule struct {
	ID             string       `xml:",omitempty" json:"id,omitzero"`
	AllowedOrigins []string     `xml:"AllowedOrigin" json:"origins"`
	AllowedMethods []string     `xml:"AllowedMethod" json:"methods"`
	AllowedHeaders []string     `xml:"AllowedHeader" json:"headers,omitzero"`
	ExposeHeaders  []string     `xml:"ExposeHeader" json:"expose,omitzero"`
	MaxAgeSeconds  int          `xml:",omitempty" json:"maxAge,omitzero"`
	Unknown        []anyElement `xml:",any" json:"-"`
}

// maxRules is S3's maximum number of CORS rules of a bucket.
const maxRules = 100

var corsMethods = []string{http.MethodGet, http.MethodPut, http.MethodHead, http.MethodPost, http.MethodDelete}

func (c *corsConfiguration) check() error {
	if len(c.Rules) == 0 || len(c.Rules) > maxRules {
		return errMalformedXML
	}
	for _, rule := range c.Rules {
		if len(rule.AllowedOrigins) == 0 || len(rule.AllowedMethods) == 0 {
			return errMalformedXML
		}
		for _, method := range rule.AllowedMethods {
			if !slices.Contains(corsMethods, method) {
				return errInvalidRequest.with("Found unsupported HTTP method in CORS config. Unsupported method is %s", method)
			}
		}
		for _, pattern := range slices.Concat(rule.AllowedOrigins, rule.AllowedHeaders) {
			if strings.Count(pattern, "*") > 1 {
				return errInvalidRequest.with("%q can not have more than one wildcard.", pattern)
			}
		}
	}
	return nil
}

func (s *Store) putCORS(q *request) error {
	var document corsConfiguration
	if err := q.readXML(&document); err != nil {
		return err
	}
	return s.changeBucket(q, func(b *bucket) { b.CORS = document.Rules })
}

func (s *Store) getCORS(q *request) error {
	if len(q.rules.CORS) == 0 {
		return errNoCORS
	}
	return q.sendXML("CORSConfiguration", corsConfiguration{Rules: q.rules.CORS})
}

func (s *Store) deleteCORS(q *request) error {
	return s.changeBucket(q, func(b *bucket) { b.CORS = nil })
}

// matchIndex returns the index of the first pattern that matches a text, or -1. A pattern has at most one "*".
func matchIndex(patterns []string, text string) int {
	return slices.IndexFunc(patterns, func(pattern string) bool {
		prefix, suffix, wild := strings.Cut(pattern, "*")
		return text == pattern ||
			wild && len(text) >= len(prefix)+len(suffix) && strings.HasPrefix(text, prefix) && strings.HasSuffix(text, suffix)
	})
}

// preflight checks whether a page may send a request. Preflight requests have no signature.
func (q *request) preflight() error {
	method := q.Header.Get("Access-Control-Request-Method")
	if q.Header.Get("Origin") == "" || method == "" {
		return failure(http.StatusBadRequest, "BadRequest", "Insufficient information. Origin request header needed.")
	}
	headers := strings.FieldsFunc(strings.ToLower(q.Header.Get("Access-Control-Request-Headers")), func(c rune) bool {
		return c == ',' || c == ' '
	})
	if !q.setCORS(method, headers) {
		return errCORS
	}
	if len(headers) > 0 {
		q.w.Header().Set("Access-Control-Allow-Headers", strings.Join(headers, ", "))
	}
	return nil
}

// setCORS reports whether a CORS rule of the bucket allows the page to send a request with a method and headers. If one
// does, setCORS adds its headers to the response. The names of the headers are in lower case.
func (q *request) setCORS(method string, headers []string) (allowed bool) {
	origin := q.Header.Get("Origin")
	for _, rule := range q.rules.CORS {
		at := matchIndex(rule.AllowedOrigins, origin)
		isForbidden := func(header string) bool {
			return matchIndex(strings.Fields(strings.ToLower(strings.Join(rule.AllowedHeaders, " "))), header) < 0
		}
		if origin == "" || at < 0 || !slices.Contains(rule.AllowedMethods, method) ||
			slices.ContainsFunc(headers, isForbidden) {
			continue
		}
		header := q.w.Header()
		header.Set("Vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method")
		header.Set("Access-Control-Allow-Methods", strings.Join(rule.AllowedMethods, ", "))
		header.Set("Access-Control-Allow-Origin", "*")
		if rule.AllowedOrigins[at] != "*" {
			header.Set("Access-Control-Allow-Origin", origin)
			header.Set("Access-Control-Allow-Credentials", "true")
		}
		if len(rule.ExposeHeaders) > 0 {
			header.Set("Access-Control-Expose-Headers", strings.Join(rule.ExposeHeaders, ", "))
		}
		if rule.MaxAgeSeconds > 0 {
			header.Set("Access-Control-Max-Age", strconv.Itoa(rule.MaxAgeSeconds))
		}
		return true
	}
	return false
}
