package docs

import (
	"bytes"
	"cmp"
	"io/fs"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	t.Parallel()
	for document, failure := range map[string]string{
		`{"info": {"servers": 1}, "servers": [{"url": "/"}], "tags": []}`: "",
		`{"servers" : null}`:        "",
		`{"info": {"servers": []}}`: "has no servers",
		`{"servers"`:                "a value",
		`{"servers": [}`:            "a value",
		`{"a": 1, "a": 2}`:          "a name",
		`["servers"]`:               "not a JSON object",
		``:                          "not a JSON object",
	} {
		s, err := New([]byte(document))
		if failure != "" {
			if err == nil || !strings.Contains(err.Error(), failure) {
				t.Errorf("%s: %v, want %s", document, err, failure)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", document, err)
		}
		if len(s.before)+len(s.after) >= len(document) || !strings.HasPrefix(document, string(s.before)) || !strings.HasSuffix(document, string(s.after)) {
			t.Errorf("%s was cut to %q and %q", document, s.before, s.after)
		}
	}
}

// The document has the base URL of the request, even if the previous request had another one.
func TestDocument(t *testing.T) {
	t.Parallel()
	s, err := New([]byte(`{"openapi": "3.1.0", "servers": [{"url": "/"}], "paths": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"https://a.example", "https://a.example", `https://b.example/"x`, "/dev", "", "https://a.example"} {
		d, err := s.document(base)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"openapi": "3.1.0", "servers": [{"url":"` + strings.ReplaceAll(cmp.Or(base, "/"), `"`, `\"`) + `"}], "paths": {}}`
		if string(d.plain) != want {
			t.Errorf("%s: %s, want %s", base, d.plain, want)
		}
		if unpacked, err := decompress(d.compressed); err != nil || string(unpacked) != want {
			t.Errorf("%s: decompressed is %s, %v", base, unpacked, err)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"": false, "identity": false, "br, zstd": false, "gzip": true, "GZIP": true, "x-gzip": true, "deflate, gzip;q=0.5": true,
		"gzip;q=0": false, "gzip; q=0.000": false, "gzip; Q=1": true, "*": true, "*;q=0": false, "gzip;q=0, *": false, "br, *;q=0.1": true,
		"gzip;q=x": false, "gzipped": false, "*;q=0, gzip": true,
	} {
		if got := (acceptInput{Encoding: header}).gzip(); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}

// Every file exists, has a media type, and has the same content with and without gzip.
func TestFiles(t *testing.T) {
	t.Parallel()
	for name, f := range files {
		plain, err := f.response(false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		zipped, err := f.response(true)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(plain.Body) == 0 || plain.ContentType == "" || plain.ContentEncoding != "" {
			t.Errorf("%s: %d bytes, %q, %q", name, len(plain.Body), plain.ContentType, plain.ContentEncoding)
		}
		body := zipped.Body
		if zipped.ContentEncoding != "" {
			if body, err = decompress(zipped.Body); err != nil || len(zipped.Vary) == 0 || len(plain.Vary) == 0 {
				t.Errorf("%s: %v, varies by %q and %q", name, err, zipped.Vary, plain.Vary)
			}
		} else if len(body) > 4096 {
			t.Errorf("%s: %d bytes are sent without compression", name, len(body))
		}
		if !bytes.Equal(body, plain.Body) {
			t.Errorf("%s differs", name)
		}
	}
	for _, f := range []file{{from: own, path: "page/absent"}, {from: own, path: "page/docs.js", compressed: true}} {
		if _, err := f.response(false); err == nil {
			t.Errorf("%s: no error", f.path)
		}
	}
	pages, err := fs.Glob(own, "page/*")
	if err != nil || len(pages) != 4 { // the index and three in files
		t.Errorf("%v, %v", pages, err)
	}
}
