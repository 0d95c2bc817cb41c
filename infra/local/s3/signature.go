package s3

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file verifies Signature Version 4, in the Authorization header and in the query of a presigned URL:
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html

const (
	signatureAlgorithm = "AWS4-HMAC-SHA256"
	unsignedPayload    = "UNSIGNED-PAYLOAD"
	timeFormat         = "20060102T150405Z"
	maxSkew            = 15 * time.Minute
	maxExpires         = 7 * 24 * time.Hour
)

// SignedFor returns the service for which a request is signed, in the Authorization header or in the query of a
// presigned URL. It returns "" if the request has no such signature. It does not verify the signature.
func SignedFor(r *http.Request) string {
	credential := r.URL.Query().Get("X-Amz-Credential")
	if header := r.Header.Get("Authorization"); header != "" {
		_, credential, _ = strings.Cut(header, "Credential=")
	}
	scope := strings.Split(credential, "/") // key/date/region/service/aws4_request
	if len(scope) < 5 {
		return ""
	}
	return scope[3]
}

type signer struct {
	key         []byte
	time, scope string
}

func newSigner(time, scope string) signer {
	key := []byte("AWS4" + SecretKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = hmacSHA256(key, part)
	}
	return signer{key, time, scope}
}

// sign returns the signature of a canonical request.
func (s signer) sign(canonical string) string {
	text := signatureAlgorithm + "\n" + s.time + "\n" + s.scope + "\n" + hexSHA256(canonical)
	return hex.EncodeToString(hmacSHA256(s.key, text))
}

func hmacSHA256(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(text)) // never fails
	return mac.Sum(nil)
}

func hexSHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// authorization returns a field of the request's signature by name: Algorithm, Credential, SignedHeaders, Signature,
// Date, or another field of the signature. It returns "" if the request does not have the field.
type authorization func(name string) string

// authorization reads the fields from the query of a presigned URL, or from the Authorization header, which has the
// form "AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…".
func (q *request) authorization() authorization {
	if q.presigned {
		return func(name string) string { return q.query.Get("X-Amz-" + name) }
	}
	algorithm, fields, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	values := map[string]string{"Algorithm": algorithm, "Date": q.Header.Get("X-Amz-Date")}
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

// authenticate returns an error if the request has no valid signature. It sets payload.
func (q *request) authenticate() error {
	if !q.presigned && q.Header.Get("Authorization") == "" {
		return errAccessDenied
	}
	a := q.authorization()
	accessKey, scope, _ := strings.Cut(a("Credential"), "/")
	signedHeaders := strings.Split(a("SignedHeaders"), ";")
	if err := q.checkClaims(a, scope, signedHeaders); err != nil {
		return err
	}
	q.payload = q.Header.Get("X-Amz-Content-Sha256")
	if q.presigned {
		q.payload = cmp.Or(q.payload, a("Content-Sha256"), unsignedPayload)
	}
	want := newSigner(a("Date"), scope).sign(q.canonical(signedHeaders))
	switch {
	case accessKey != AccessKeyID:
		return errUnknownKey
	case q.Header.Get("X-Amz-Security-Token") != "" || q.query.Has("X-Amz-Security-Token"):
		return errToken
	case q.payload == "":
		return errInvalidRequest.with("Missing required header for this request: x-amz-content-sha256")
	case !hmac.Equal([]byte(want), []byte(a("Signature"))):
		return errSignature
	}
	for name := range q.Header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-amz-") && !slices.Contains(signedHeaders, name) {
			return errAccessDenied.with("There were headers present in the request which were not signed: %s", name)
		}
	}
	return nil
}

// checkClaims checks the algorithm, the scope and the time of a signature.
func (q *request) checkClaims(a authorization, scope string, signedHeaders []string) error {
	malformed, unsupported, expires := errAuthMalformed, errInvalidRequest, maxSkew
	if q.presigned {
		malformed, unsupported = errQueryAuth, errQueryAuth
		seconds, _ := strconv.ParseInt(a("Expires"), 10, 32) // 0 after an error
		expires = time.Duration(seconds) * time.Second
	}
	switch {
	case a("Algorithm") != signatureAlgorithm:
		return unsupported.with("The authorization mechanism you have provided is not supported. Please use %s.",
			signatureAlgorithm)
	case expires <= 0 || expires > maxExpires:
		return malformed.with("X-Amz-Expires must be a number of seconds from 1 to 604800")
	case !slices.Contains(signedHeaders, "host"):
		return malformed.with("The signed headers must include host.")
	}
	signed, err := time.Parse(timeFormat, a("Date"))
	if err != nil {
		return errAccessDenied.with("AWS authentication requires a valid X-Amz-Date")
	}
	if want := signed.Format("20060102/") + q.store.options.Region + "/s3/aws4_request"; scope != want {
		return malformed.with("The credential scope is %q. It must be %q.", scope, want)
	}
	switch age := q.now.Sub(signed); {
	case !q.presigned && age.Abs() > maxSkew:
		return errSkewed
	case age > expires:
		return errAccessDenied.with("Request has expired")
	case age < -maxSkew:
		return errAccessDenied.with("Request is not yet valid")
	}
	return nil
}

// canonical returns the canonical request, the text whose hash the client has signed.
func (q *request) canonical(signedHeaders []string) string {
	query := maps.Clone(q.query)
	delete(query, "X-Amz-Signature")
	lines := []string{q.Method, escapePath(q.URL.Path), strings.ReplaceAll(query.Encode(), "+", "%20")}
	for _, name := range signedHeaders {
		value := strings.Join(q.Header.Values(name), ",")
		switch name {
		case "host":
			value = q.Host
		case "content-length":
			value = strconv.FormatInt(q.ContentLength, 10)
		}
		lines = append(lines, name+":"+strings.Join(strings.Fields(value), " "))
	}
	return strings.Join(append(lines, "", strings.Join(signedHeaders, ";"), q.payload), "\n")
}

// escapePath percent-encodes every byte except letters, digits and "-._~/".
func escapePath(text string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(text))
}
