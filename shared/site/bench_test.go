package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/objectstore"
)

// BenchmarkPage measures the handler's own work for a page of 10 KiB that is in memory. DynamoDB responds at once,
// without a network.
func BenchmarkPage(b *testing.B) {
	page := make([]byte, 10<<10)
	copy(page, "<!doctype html>")
	for _, bc := range []struct {
		name, accept string
		object       []byte
		gzip         bool
	}{
		{"plain", "gzip", page, false}, {"gzip", "gzip", compress(page), true}, {"decompressed", "", compress(page), true},
	} {
		b.Run(bc.name, func(b *testing.B) {
			file := File{Size: len(page), SHA256: sha256.Sum256(page), ContentType: htmlType, Gzip: bc.gzip}
			manifest, err := json.Marshal(Manifest{Files: map[string]File{"/index.html": file}})
			if err != nil {
				b.Fatal(err)
			}
			h := newCanned(manifest, map[string][]byte{ObjectKey(first, file.SHA256, file.Gzip): bc.object})
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://"+host+"/", nil)
			r.Header.Set("Accept-Encoding", bc.accept)
			b.ReportAllocs()
			for b.Loop() {
				w := discard{header: http.Header{}}
				h.ServeHTTP(&w, r)
				if w.status != http.StatusOK || w.n == 0 {
					b.Fatalf("got status %d, %d bytes", w.status, w.n)
				}
			}
		})
	}
}

// discard is an http.ResponseWriter that discards the body.
type discard struct {
	header    http.Header
	status, n int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { d.n += len(p); return len(p), nil }

// newCanned returns a handler. Its DynamoDB returns one address, and its S3 returns the manifest and objects by their
// keys.
func newCanned(manifest []byte, objects map[string][]byte) *Handler {
	hash := sha256.Sum256(manifest)
	objects[ManifestKey(first, hash[:])] = manifest
	respond := func(body []byte, kind string) *http.Response {
		return &http.Response{
			StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
			Header: http.Header{"Content-Type": {kind}, "Content-Length": {strconv.Itoa(len(body))}},
		}
	}
	item := []byte(`{"Item":{"pk":{"S":"ADDRESS#shop"},"sk":{"S":"ADDRESS"},"accountId":{"S":"` + account +
		`"},"deploymentId":{"S":"` + first + `"},"manifest":{"B":"` + base64.StdEncoding.EncodeToString(hash[:]) +
		`"},"production":{"BOOL":true},"spa":{"BOOL":false}}}`)
	tables := dynamotest.Client("http://dynamodb", func(o *dynamodb.Options) {
		o.HTTPClient = slicetest.DoFunc(func(*http.Request) (*http.Response, error) {
			response := respond(item, "application/x-amz-json-1.0")
			response.Header.Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE(item)))
			return response, nil
		})
	})
	files := s3test.Client("http://s3", func(o *s3.Options) {
		o.HTTPClient = slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
			object, ok := objects[strings.TrimPrefix(r.URL.Path, "/files/")]
			if !ok {
				return nil, fmt.Errorf("unexpected object %s", r.URL.Path)
			}
			return respond(object, "application/octet-stream"), nil
		})
	})
	client := db.Wrap(tables, func() time.Time { return epoch })
	h := New(Deps{
		DB: client, Sites: client.Table("sites"), Bucket: objectstore.Wrap(s3test.Of(files)).Bucket("files"),
		Origin: "https://example.app", TrafficLimit: 1 << 40, Clock: func() time.Time { return epoch },
		Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)), RequestID: requestID,
	})
	h.traffic.random = func() float64 { return 0.999999 }
	return h
}
