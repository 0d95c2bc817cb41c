package objectstore_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/config"
	"devplatform/shared/objectstore"
)

// announce returns the upload of data.
func announce(key string, data []byte) objectstore.Upload {
	sum := sha256.Sum256(data)
	return objectstore.Upload{Key: key, Size: len(data), SHA256: sum[:]}
}

// call sends a request without credentials, and returns the response with its body.
func call(t *testing.T, method, url string, body []byte, headers map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(data)
}

// TestPresign uploads and downloads objects with presigned requests, with the embedded S3 and with moto.
func TestPresign(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b objectstore.Bucket, isMoto bool) {
		t.Helper()
		for key, data := range map[string][]byte{"a/lärge #1": bytes.Repeat([]byte("content"), 10_000), "empty": nil} {
			if _, err := b.Size(t.Context(), key); !errors.Is(err, objectstore.ErrNotFound) {
				t.Errorf("Size of a missing object: got error %v, want ErrNotFound", err)
			}
			target, headers, err := b.PresignPut(t.Context(), announce(key, data), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if !isMoto { // it would ignore the parameters of the download that replace these headers
				headers["Content-Encoding"], headers["Cache-Control"] = "gzip", "public"
			}
			if response, body := call(t, http.MethodPut, target, data, headers); response.StatusCode != http.StatusOK {
				t.Fatalf("PUT %s: got %d %s, want 200", key, response.StatusCode, body)
			}
			if size, err := b.Size(t.Context(), key); err != nil || size != len(data) {
				t.Errorf("Size of %s: got %d, error %v, want %d", key, size, err, len(data))
			}
			d := objectstore.Download{Key: key, Filename: "a.mp4", ContentType: "video/x"}
			link, err := b.PresignGet(t.Context(), d, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			response, body := call(t, http.MethodGet, link, nil, nil)
			hasHeaders := response.Header.Get("Content-Type") == "video/x" &&
				response.Header.Get("Content-Disposition") == "attachment; filename=a.mp4" &&
				response.Header.Get("Content-Encoding") == "identity" &&
				response.Header.Get("Cache-Control") == "private, no-cache"
			if body != string(data) || (!hasHeaders && !isMoto) {
				t.Errorf("GET %s: got %d bytes with the headers %v", key, len(body), response.Header)
			}
		}
	})
}

// A presigned upload signs the length, the hash and the condition. On AWS, its URL has the host of the bucket in its
// region.
func TestPresignedURLs(t *testing.T) {
	t.Parallel()
	cfg := config.AWS{Region: "eu-central-1", AccessKeyID: "a", SecretAccessKey: "b", SessionToken: "token"}
	b := objectstore.New(cfg).Bucket("files")
	target, headers, err := b.PresignPut(t.Context(), announce("contents/a", []byte("x")), 15*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"If-None-Match": "*", "X-Amz-Checksum-Sha256": "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=",
	}
	if diff := cmp.Diff(want, headers); diff != "" {
		t.Errorf("headers: mismatch (-want +got):\n%s", diff)
	}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	if u.Scheme != "https" || u.Host != "files.s3.eu-central-1.amazonaws.com" || u.Path != "/contents/a" ||
		query.Get("X-Amz-SignedHeaders") != "content-length;host;if-none-match;x-amz-checksum-sha256" ||
		query.Get("X-Amz-Expires") != "900" || query.Get("X-Amz-Security-Token") != "token" {
		t.Errorf("got the URL %s, want one of the bucket that signs all headers for 15 minutes", target)
	}
	if strings.Contains(target, "checksum-crc") {
		t.Errorf("got the URL %s, want one without another checksum", target)
	}
	for name, want := range map[string]string{
		"a b.txt":      `attachment; filename="a b.txt"`,
		`a"\;é` + "\n": `attachment; filename*=utf-8''a%22%5C%3B%C3%A9%0A`,
		`say "hi"`:     `attachment; filename="say \"hi\""`,
	} {
		d := objectstore.Download{Key: "contents/a", Filename: name, ContentType: "text/html"}
		link, err := b.PresignGet(t.Context(), d, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(link)
		if got := u.Query(); err != nil || got.Get("response-content-disposition") != want ||
			got.Get("response-content-type") != "text/html" {
			t.Errorf("%q: got the URL %s, want the disposition %s", name, link, want)
		}
	}
	if _, _, err := b.PresignPut(t.Context(), announce("", nil), time.Minute); err == nil {
		t.Error("an upload without a key: got no error")
	}
	if _, err := b.PresignGet(t.Context(), objectstore.Download{}, time.Minute); err == nil {
		t.Error("a download without a key: got no error")
	}
}

func TestSizeErrors(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]error{
		http.StatusNotFound: objectstore.ErrNotFound, http.StatusServiceUnavailable: objectstore.ErrUnavailable,
		// S3 hides from a role without s3:ListBucket that an object is missing.
		http.StatusForbidden: objectstore.ErrNotFound,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(server.Close)
		if _, err := newClient(server.URL).Bucket("files").Size(t.Context(), "a"); !errors.Is(err, want) {
			t.Errorf("status %d: got error %v, want %v", status, err, want)
		}
	}
}
