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
	for document, failure := range map[string]string{ // failure is a part of the error, or "" for a valid document
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
				t.Errorf("%s: got the error %v, want %q", document, err, failure)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", document, err)
		}
		before, after := string(s.before), string(s.after)
		if len(before)+len(after) >= len(document) ||
			!strings.HasPrefix(document, before) || !strings.HasSuffix(document, after) {
			t.Errorf("%s was split into %q and %q, want the parts around the servers", document, before, after)
		}
	}
}

// TestDocument checks that the document has the base URL of the request, even if the cached document has another one.
func TestDocument(t *testing.T) {
	t.Parallel()
	s, err := New([]byte(`{"openapi": "3.1.0", "servers": [{"url": "/"}], "paths": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{
		"https://a.example", "https://a.example", `https://b.example/"x`, "/dev", "", "https://a.example",
	} {
		d, err := s.document(base)
		if err != nil {
			t.Fatal(err)
		}
		server := strings.ReplaceAll(cmp.Or(base, "/"), `"`, `\"`)
		want := `{"openapi": "3.1.0", "servers": [{"url":"` + server + `"}], "paths": {}}`
		if string(d.plain) != want {
			t.Errorf("base URL %s: got %s, want %s", base, d.plain, want)
		}
		if plain, err := decompress(d.compressed); err != nil || string(plain) != want {
			t.Errorf("base URL %s: the compressed document is %s, error %v, want %s", base, plain, err, want)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"":                    false,
		"identity":            false,
		"br, zstd":            false,
		"gzip":                true,
		"GZIP":                true,
		"x-gzip":              true,
		"deflate, gzip;q=0.5": true,
		"gzip;q=0":            false,
		"gzip; q=0.000":       false,
		"gzip; Q=1":           true,
		"*":                   true,
		"*;q=0":               false,
		"gzip;q=0, *":         false,
		"br, *;q=0.1":         true,
		"gzip;q=x":            false,
		"gzipped":             false,
		"*;q=0, gzip":         true,
	} {
		if got := (acceptInput{Encoding: header}).acceptsGzip(); got != want {
			t.Errorf("Accept-Encoding %q: got %v, want %v", header, got, want)
		}
	}
}

// TestFiles checks that every file exists, has a media type, and has the same content with and without gzip.
func TestFiles(t *testing.T) {
	t.Parallel()
	for name, f := range files {
		plain, err := f.response(false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		compressed, err := f.response(true)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(plain.Body) == 0 || plain.ContentType == "" || plain.ContentEncoding != "" {
			t.Errorf("%s without gzip: got %d bytes, type %q, encoding %q, want content with a type and without encoding",
				name, len(plain.Body), plain.ContentType, plain.ContentEncoding)
		}
		body := compressed.Body
		if compressed.ContentEncoding != "" {
			if body, err = decompress(compressed.Body); err != nil || len(compressed.Vary) == 0 || len(plain.Vary) == 0 {
				t.Errorf("%s: got the error %v and Vary %q and %q, want Vary with and without gzip",
					name, err, compressed.Vary, plain.Vary)
			}
		} else if len(body) > 4096 {
			t.Errorf("%s: %d bytes are not compressed, want at most 4096", name, len(body))
		}
		if !bytes.Equal(body, plain.Body) {
			t.Errorf("%s: the content with gzip differs from the content without", name)
		}
	}
	missing := file{from: own, path: "page/absent"}
	notCompressed := file{from: own, path: "page/docs.js", compressed: true}
	for _, f := range []file{missing, notCompressed} {
		if _, err := f.response(false); err == nil {
			t.Errorf("%s: got no error", f.path)
		}
	}
	pages, err := fs.Glob(own, "page/*")
	if err != nil || len(pages) != 4 { // index.html and the three other files of the page
		t.Errorf("got the files %v, error %v, want 4", pages, err)
	}
}
