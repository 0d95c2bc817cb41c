package s3

import (
	"encoding/base64"
	"encoding/xml"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/platformtest"
)

// oracleVariable names the binary of versitygw, an independent implementation of S3. `make compare-s3` sets it.
const oracleVariable = "S3_ORACLE"

// step is a request that is sent to both implementations.
type step struct {
	method, path, body string
	headers            []string // names and values
	after              func(*http.Request)
	// differs is the reason why the implementations differ, where S3's documentation supports ours.
	differs string
}

// outcome has the parts of a response that are compared.
type outcome struct {
	Status  int
	Code    string
	Headers map[string]string
	// Document has the texts of elements whose values do not depend on the server.
	Document []string
	Body     string
}

// comparedHeaders are the headers whose values do not depend on the server.
var comparedHeaders = []string{
	"Accept-Ranges", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Origin",
	"Access-Control-Expose-Headers", "Access-Control-Max-Age", "Cache-Control", "Content-Disposition", "Content-Encoding",
	"Content-Language", "Content-Range", "Content-Type", "Etag", "X-Amz-Checksum-Crc32", "X-Amz-Checksum-Crc64nvme",
	"X-Amz-Checksum-Sha256", "X-Amz-Checksum-Type", "X-Amz-Meta-Owner",
}

var comparedElements = regexp.MustCompile(
	`<(Key|Prefix|Delimiter|KeyCount|MaxKeys|IsTruncated|ETag|Size|ChecksumType|ChecksumCRC32|ChecksumSHA256|ChecksumCRC64NVME|AllowedOrigin|AllowedMethod)>([^<]*)<`)

func (i *server) run(s step) outcome {
	i.t.Helper()
	r := i.signed(s.method, s.path, s.body, func(r *http.Request) {
		for n := 0; n < len(s.headers); n += 2 {
			r.Header.Set(s.headers[n], s.headers[n+1])
		}
	})
	if s.after != nil {
		s.after(r)
	}
	a := i.do(r)
	o := outcome{Status: a.StatusCode, Headers: map[string]string{}}
	for _, name := range comparedHeaders {
		if value := a.Header.Get(name); value != "" {
			o.Headers[name] = value
		}
	}
	var failure errorDocument
	switch isXML := strings.HasPrefix(a.Header.Get("Content-Type"), "application/xml"); {
	case a.StatusCode >= 300:
		o.Headers = nil
		if a.text == "" {
			break
		}
		if err := xml.Unmarshal([]byte(a.text), &failure); err != nil {
			i.t.Errorf("%s %s: %v in %s", s.method, s.path, err, a.text)
		}
		o.Code = failure.Code
	case isXML:
		for _, found := range comparedElements.FindAllStringSubmatch(a.text, -1) {
			if found[2] == "" {
				continue // is left out by one of them
			}
			o.Document = append(o.Document, found[1]+"="+strings.NewReplacer("&#34;", `"`, "&quot;", `"`).Replace(found[2]))
		}
		slices.Sort(o.Document)
	default:
		o.Body = a.text
	}
	return o
}

// startOracle starts versitygw on a folder.
func startOracle(t *testing.T, binary string) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	process := exec.CommandContext(t.Context(), binary, "--access", AccessKeyID, "--secret", SecretKey, "--port", address, "--quiet", "posix", t.TempDir())
	process.Cancel = func() error { return process.Process.Signal(os.Interrupt) }
	process.WaitDelay = 5 * time.Second
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(os.Interrupt)
		_ = process.Wait()
	})
	platformtest.EventuallyWithin(t, patience, "versitygw", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return "http://" + address
}

// TestOracle sends the same requests to this package and to versitygw, and compares statuses, error codes, headers and
// documents.
func TestOracle(t *testing.T) {
	t.Parallel()
	binary := os.Getenv(oracleVariable)
	if binary == "" {
		t.Skip(oracleVariable + " is not set: run make compare-s3")
	}
	ours, theirs := start(t, Options{}), &server{t: t, url: startOracle(t, binary)}
	theirs.run(step{method: http.MethodPut, path: "/bkt"})
	for n, s := range oracleSteps() {
		got, want := ours.run(s), theirs.run(s)
		diff := cmp.Diff(want, got)
		switch {
		case diff != "" && s.differs == "":
			t.Errorf("%d: %s %s %v (-theirs +ours)\n%s", n, s.method, s.path, s.headers, diff)
		case diff == "" && s.differs != "":
			t.Errorf("%d: %s %s %v no longer differs: %s", n, s.method, s.path, s.headers, s.differs)
		}
	}
}

func oracleSteps() []step {
	const (
		options      = http.MethodOptions
		past, future = "Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2096 15:04:05 GMT"
		etag         = `"9a0364b9e99bb480dd25e1f0284c8555"`
	)
	crc := func(text string) string { return sum(algorithmNamed("CRC32"), text) }
	sha := func(text string) string { return sum(algorithmNamed("SHA256"), text) }
	cors := `<CORSConfiguration><CORSRule><AllowedOrigin>https://app.example</AllowedOrigin><AllowedMethod>PUT</AllowedMethod><AllowedMethod>GET</AllowedMethod>` +
		`<AllowedHeader>x-amz-*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>60</MaxAgeSeconds></CORSRule></CORSConfiguration>`
	steps := []step{
		{method: head, path: "/bkt"},
		{method: head, path: "/none"},
		{method: get, path: "/none/k"},
		{method: put, path: "/none/k", body: "x"},
		{method: put, path: "/B_"},

		{method: put, path: "/bkt/a/one.txt", body: "content", headers: []string{
			"Content-Type", "text/plain", "Cache-Control", "no-store", "X-Amz-Meta-Owner", "ada", "Content-Language", "en", "X-Amz-Checksum-Sha256", sha("content"),
		}},
		{method: put, path: "/bkt/plain", body: "content"},
		{method: put, path: "/bkt/%C3%A4%20b%2Bc%3F", body: "x", headers: []string{"X-Amz-Checksum-Crc32", crc("x")}},
		{method: put, path: "/bkt/a/two.txt", body: ""},
		{method: get, path: "/bkt/a/one.txt"},
		{method: get, path: "/bkt/a/one.txt", headers: []string{"X-Amz-Checksum-Mode", "ENABLED"}},
		{method: head, path: "/bkt/a/one.txt", headers: []string{"X-Amz-Checksum-Mode", "ENABLED"}},
		{method: get, path: "/bkt/plain", headers: []string{"X-Amz-Checksum-Mode", "ENABLED"}},
		{method: get, path: "/bkt/a/one.txt?response-content-type=text/css&response-content-disposition=attachment"},
		{method: get, path: "/bkt/%C3%A4%20b%2Bc%3F"},
		{method: get, path: "/bkt/missing"},
		{method: head, path: "/bkt/missing"},
		{method: remove, path: "/bkt/missing"},
	}
	for _, value := range []string{"bytes=2-4", "bytes=5-", "bytes=-3", "bytes=-99", "bytes=9-", "bytes=4-2", "bytes=a-b", "lines=1-2", "bytes=0-99", "bytes=0-0"} {
		steps = append(steps, step{method: get, path: "/bkt/a/one.txt", headers: []string{"Range", value}})
	}
	for _, condition := range [][2]string{
		{"If-Match", etag}, {"If-Match", `"other"`}, {"If-None-Match", etag}, {"If-None-Match", `"other"`},
		{"If-Modified-Since", past}, {"If-Unmodified-Since", future}, {"If-Unmodified-Since", past},
	} {
		for _, method := range []string{get, head} {
			steps = append(steps, step{method: method, path: "/bkt/a/one.txt", headers: condition[:]})
		}
	}
	for _, query := range []string{
		"", "&prefix=a/", "&delimiter=/", "&prefix=a&delimiter=/", "&max-keys=1", "&max-keys=0", "&start-after=a/one.txt",
		"&max-keys=-1", "&max-keys=x", "&prefix=none",
	} {
		steps = append(steps, step{method: get, path: "/bkt?list-type=2" + query})
	}
	return append(steps, []step{
		{method: get, path: "/bkt/plain", headers: []string{"If-Modified-Since", future}, differs: "RFC 9110 does not exclude dates in the future"},
		{method: get, path: "/bkt?list-type=2&encoding-type=url", differs: "S3 encodes keys if it is asked to"},
		{method: get, path: "/bkt?list-type=2&encoding-type=none", differs: "S3 refuses other encodings"},
		{method: put, path: "/bkt/plain", body: "x", headers: []string{"If-None-Match", "*"}},
		{method: put, path: "/bkt/fresh", body: "x", headers: []string{"If-None-Match", "*"}},
		{method: put, path: "/bkt/k", body: "x", headers: []string{"X-Amz-Checksum-Crc32", crc("y")}},
		{method: put, path: "/bkt/k", body: "x", headers: []string{"X-Amz-Checksum-Crc32", "?"}},
		{method: put, path: "/bkt/k", body: "x", headers: []string{"X-Amz-Checksum-Crc32", crc("x"), "X-Amz-Checksum-Sha256", sha("x")}},
		{method: put, path: "/bkt/k", body: "x", headers: []string{"X-Amz-Sdk-Checksum-Algorithm", "CRC32"}},
		{method: put, path: "/bkt/k", body: "x", headers: []string{"Content-Md5", "?"}},
		{method: put, path: "/bkt/k", body: "x", headers: []string{"Content-Md5", base64.StdEncoding.EncodeToString([]byte("0123456789abcdef"))}},
		{method: put, path: "/bkt/k", body: "x", headers: []string{"X-Amz-Content-Sha256", hexSHA256("y")}},
		{method: put, path: "/bkt/k", body: "x", headers: []string{"X-Amz-Content-Sha256", unsignedPayload}},
		{method: get, path: "/bkt/k"},

		{method: get, path: "/bkt/plain", after: func(r *http.Request) { r.Header.Del("Authorization") }},
		{method: get, path: "/bkt/plain", after: setHeader("Authorization", "AWS local:c2ln")},
		{method: get, path: "/bkt/plain", after: setHeader("X-Amz-Meta-Owner", "eve")},
		{method: get, path: "/bkt/plain", after: replaceInHeader("Credential=local/", "Credential=other/"), differs: "the code is InvalidAccessKeyId"},
		{method: get, path: "/bkt/plain", after: replaceInHeader("us-east-1", "us-east-2")},
		{method: get, path: "/bkt/plain", after: replaceInHeader("Signature=", "Signature=0")},
		{method: get, path: "/bkt/plain", after: func(r *http.Request) { r.URL.Path = "/bkt/a/one.txt" }},

		{method: get, path: "/bkt?cors"},
		{method: put, path: "/bkt?cors", body: cors, headers: []string{"X-Amz-Checksum-Crc32", crc(cors)}},
		{method: get, path: "/bkt?cors"},
		{method: options, path: "/bkt/k", headers: []string{"Origin", "https://app.example", "Access-Control-Request-Method", put, "Access-Control-Request-Headers", "x-amz-date"}},
		{method: options, path: "/bkt/k", headers: []string{"Origin", "https://app.example", "Access-Control-Request-Method", remove}},
		{method: options, path: "/bkt/k", headers: []string{"Origin", "https://evil.example", "Access-Control-Request-Method", put}},
		{method: options, path: "/bkt/k", headers: []string{"Origin", "https://app.example"}},
		{method: get, path: "/bkt/plain", headers: []string{"Origin", "https://app.example"}, differs: "only the headers of the rule are exposed"},
		{method: get, path: "/bkt/plain", headers: []string{"Origin", "https://evil.example"}},
		{method: remove, path: "/bkt?cors"},

		{method: post, path: "/bkt?delete", body: "<Delete><Object><Key>plain</Key></Object><Object><Key>none</Key></Object></Delete>", headers: []string{
			"X-Amz-Checksum-Crc32", crc("<Delete><Object><Key>plain</Key></Object><Object><Key>none</Key></Object></Delete>"),
		}},
		{method: post, path: "/bkt?delete", body: "<Delete/>", headers: []string{"X-Amz-Checksum-Crc32", crc("<Delete/>")}, differs: "a document needs an object"},
		{method: get, path: "/bkt?list-type=2"},
	}...)
}
