package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/objectstore"
	"devplatform/shared/site/rule"
	"devplatform/shared/workspace/record"
)

// epoch is the time at which the tests begin.
var epoch = time.Date(2031, 5, 15, 10, 5, 20, 0, time.UTC)

const (
	account = "usr_01KGA4V5N2ABCDEFGHJKMNPQRS"
	team    = "ws_01KGA4V5N3ABCDEFGHJKMNPQRS" // the workspace of all sites
	host    = "shop.example.app"              // the address that most tests use
	mib     = 1 << 20
)

// fixture is a Handler with an embedded DynamoDB and an embedded S3.
type fixture struct {
	t        testing.TB
	clock    *slicetest.Clock
	log      *slicetest.Log
	wire     *dynamotest.Wire // between the handler and DynamoDB
	sdk      *dynamodb.Client // connected directly to DynamoDB
	table    string
	direct   *db.Client
	projects db.Table           // connected directly
	reading  *dynamotest.Wire   // between the handler and DynamoDB, for the table of projects
	objects  objectstore.Bucket // connected directly to S3
	handler  *Handler
	random   func() float64
	stored   map[string]stored // by deployment ID

	redirects []rule.Redirect // of the next deployments
	headers   []rule.Headers

	reads  atomic.Int64           // GetObject calls of the handler
	onRead func(*http.Request)    // called before each of them; may be nil
	change func(r *http.Response) // changes each response of S3; may be nil
}

// newFixture returns a fixture. The function change modifies the handler's dependencies. change may be nil.
func newFixture(t testing.TB, change func(*Deps)) *fixture {
	t.Helper()
	endpoint, s3Endpoint := dynamotest.StartServer(t), s3test.StartServer(t)
	f := &fixture{
		t: t, clock: slicetest.NewClock(epoch, 0), log: slicetest.NewLog(), sdk: dynamotest.Client(endpoint),
		wire: dynamotest.NewWire(t, endpoint, nil), random: func() float64 { return 0.999999 },
		stored: map[string]stored{},
	}
	f.table = slicetest.Table(t, f.sdk, "sites")
	f.direct = db.Wrap(f.sdk, f.clock.Now)
	projects := slicetest.Table(t, f.sdk, "projects")
	f.projects = f.direct.Table(projects)
	f.write(f.projects.Put(db.WorkspaceKey(team), record.Workspace{ID: team, Owners: 1}))
	bucket := s3test.CreateBucket(t, s3test.Client(s3Endpoint), "files")
	f.objects = objectstore.Wrap(s3test.Of(s3test.Client(s3Endpoint))).Bucket(bucket)
	f.reading = dynamotest.NewWire(t, endpoint, nil)
	client := db.Wrap(f.wire.Client(), f.clock.Now)
	deps := Deps{
		DB: client, Sites: client.Table(f.table), Projects: db.Wrap(f.reading.Client(), f.clock.Now).Table(projects),
		Bucket: objectstore.Wrap(s3test.Of(s3test.Client(s3Endpoint, func(o *s3.Options) {
			o.HTTPClient, o.RetryMaxAttempts = slicetest.DoFunc(f.readObject), 1
		}))).Bucket(bucket),
		Origin: "https://example.app", TrafficLimit: 100 << 30, Clock: f.clock.Now,
		Logger:    slog.New(slog.NewJSONHandler(f.log, nil)),
		RequestID: requestID,
	}
	if change != nil {
		change(&deps)
	}
	f.handler = New(deps)
	f.handler.traffic.random = func() float64 { return f.random() }
	return f
}

func requestID(context.Context) string { return "req-1" }

// transport is the transport of the handler's S3 client.
var transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}

func (f *fixture) readObject(r *http.Request) (*http.Response, error) {
	f.reads.Add(1)
	if f.onRead != nil {
		f.onRead(r)
	}
	response, err := transport.RoundTrip(r)
	if err == nil && f.change != nil {
		f.change(response)
	}
	return response, err
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// content is a file of a deployment.
type content struct {
	text   string
	kind   string // content type; text/plain if it is empty
	hashed bool
	gzip   bool
}

// deploy stores the manifest and the files of a deployment.
func (f *fixture) deploy(deploymentID string, files map[string]content) {
	f.t.Helper()
	m := Manifest{Files: map[string]File{}, Redirects: f.redirects, Headers: f.headers}
	for path, c := range files {
		if c.kind == "" {
			c.kind = "text/plain; charset=utf-8"
		}
		m.Files[path] = File{
			Size: len(c.text), SHA256: sha256.Sum256([]byte(c.text)), ContentType: c.kind, Hashed: c.hashed, Gzip: c.gzip,
		}
		data := []byte(c.text)
		if c.gzip {
			data = compress(data)
		}
		f.must(f.objects.Create(f.t.Context(), ObjectKey(deploymentID, m.Files[path].SHA256, c.gzip), data))
	}
	data, err := json.Marshal(m)
	f.must(err)
	hash := sha256.Sum256(data)
	f.must(f.objects.Create(f.t.Context(), ManifestKey(deploymentID, hash[:]), data))
	f.stored[deploymentID] = stored{hash[:], m}
}

func compress(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// stored is the manifest of a deployment, and its hash.
type stored struct {
	hash     []byte
	manifest Manifest
}

// manifestKey returns the key of the manifest of a deployment.
func (f *fixture) manifestKey(deploymentID string) string {
	return ManifestKey(deploymentID, f.stored[deploymentID].hash)
}

// fileKey returns the key of a file of a deployment.
func (f *fixture) fileKey(deploymentID, path string) string {
	file := f.stored[deploymentID].manifest.Files[path]
	return ObjectKey(deploymentID, file.SHA256, file.Gzip)
}

// remove removes the objects of the manifest and of some files of a deployment.
func (f *fixture) remove(deploymentID string, paths ...string) {
	f.t.Helper()
	keys := []string{f.manifestKey(deploymentID)}
	for _, path := range paths {
		keys = append(keys, f.fileKey(deploymentID, path))
	}
	f.must(f.objects.DeleteAll(context.WithoutCancel(f.t.Context()), keys...))
}

// put stores the record of an address.
func (f *fixture) put(label string, a Address) {
	f.t.Helper()
	a.Manifest, a.WorkspaceID = f.stored[a.DeploymentID].hash, team
	if !a.Production {
		a.HashedPaths = HashedPathsOf(f.stored[a.DeploymentID].manifest)
	}
	item, err := db.Encode(a)
	f.must(err)
	if a.ExpiresAt == 0 {
		delete(item, db.AttrExpiresAt)
	}
	f.write(f.direct.Table(f.table).Put(db.AddressKey(label), item))
}

// write makes a write without the handler.
func (f *fixture) write(w db.Write) {
	f.t.Helper()
	_, err := f.direct.Do(context.WithoutCancel(f.t.Context()), w)
	f.must(err)
}

// live makes a deployment live at the address of host.
func (f *fixture) live(deploymentID string) {
	f.t.Helper()
	f.put("shop", Address{AccountID: account, DeploymentID: deploymentID, Production: true})
}

// counted returns the traffic of the account in a month, as it is stored.
func (f *fixture) counted(month string) int64 {
	f.t.Helper()
	items, err := f.direct.Table(f.table).BatchGet(f.t.Context(), db.TrafficKey(account, month))
	f.must(err)
	record, err := db.Decode[trafficRecord](items[db.TrafficKey(account, month)])
	f.must(err)
	return record.Bytes
}

// do serves one request.
func (f *fixture) do(method, host, path string, header http.Header) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequestWithContext(f.t.Context(), method, "http://"+host+path, nil)
	if header != nil {
		r.Header = header
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

// get serves a GET request. It checks that a HEAD request has the same status and headers, and no body. pairs are names
// and values of the request's headers.
func (f *fixture) get(host, path string, pairs ...string) *httptest.ResponseRecorder {
	f.t.Helper()
	header := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		header.Add(pairs[i], pairs[i+1])
	}
	got, head := f.do(http.MethodGet, host, path, header), f.do(http.MethodHead, host, path, header)
	if diff := cmp.Diff(got.Header(), head.Header()); diff != "" || got.Code != head.Code || head.Body.Len() > 0 {
		f.t.Errorf("%s: HEAD has status %d and %d bytes, GET has status %d; headers (-GET +HEAD):\n%s",
			path, head.Code, head.Body.Len(), got.Code, diff)
	}
	return got
}

// plain returns the body of a response, without compression.
func plain(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Header().Get("Content-Encoding") != "gzip" {
		return w.Body.String()
	}
	reader, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// wantHeader checks headers of a response. An empty value means that the header must be absent.
func wantHeader(t testing.TB, w *httptest.ResponseRecorder, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := strings.Join(w.Header()[http.CanonicalHeaderKey(pairs[i])], "|"); got != pairs[i+1] {
			t.Errorf("got %s %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}
