package objectstore_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/slicetest"
	"devplatform/shared/awsclient"
	"devplatform/shared/config"
	"devplatform/shared/objectstore"
)

// moto starts moto, until the test ends, and returns its endpoint. If moto is not installed, it skips the test, or
// fails it if CI=true.
func moto(t *testing.T) (endpoint string) {
	t.Helper()
	const script = `
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
server.stop()`
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import moto.server").Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("moto is not installed: %v", err)
		}
		t.Skip("moto is not installed")
	}
	server := exec.CommandContext(t.Context(), "python3", "-c", script)
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // ends the script
		_ = server.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	host, port, ok := strings.Cut(strings.TrimSpace(line), " ")
	if err != nil || !ok {
		t.Fatalf("moto did not start: %q, %v", line, err)
	}
	return "http://" + host + ":" + port
}

// newBucket creates a bucket.
func newBucket(t *testing.T, endpoint string) objectstore.Bucket {
	t.Helper()
	name := s3test.CreateBucket(t, s3test.Client(endpoint), "files")
	return newClient(endpoint).Bucket(name)
}

// newClient returns a client that is configured as in a function.
func newClient(endpoint string) *objectstore.Client {
	return objectstore.New(config.AWS{
		Region: "us-east-1", AccessKeyID: "local", SecretAccessKey: "local", Endpoint: endpoint,
	})
}

// onBoth runs a test with a bucket of the embedded S3, and with one of moto.
func onBoth(t *testing.T, test func(t *testing.T, b objectstore.Bucket, isMoto bool)) {
	t.Helper()
	for name, start := range map[string]func(*testing.T) string{
		"embedded": func(t *testing.T) string { t.Helper(); return s3test.StartServer(t) },
		"moto":     moto,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newBucket(t, start(t)), name == "moto")
		})
	}
}

func TestBucket(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b objectstore.Bucket, _ bool) {
		t.Helper()
		testObjects(t, b)
		testLists(t, b)
		testPut(t, b)
	})
}

func testObjects(t *testing.T, b objectstore.Bucket) {
	t.Helper()
	large := make([]byte, 1<<20)
	_, _ = rand.Read(large)
	for _, step := range []struct {
		key, data string
		want      error
	}{
		{"a/empty", "", nil},
		{"a/small", "one", nil},
		{"a/small", "one", nil}, // an earlier attempt has written it
		{"a/small", "two", objectstore.ErrExists},
		{"a/lärge #1", string(large), nil},
	} {
		if err := b.Create(t.Context(), step.key, []byte(step.data)); !errors.Is(err, step.want) {
			t.Errorf("Create %s: got error %v, want %v", step.key, err, step.want)
		}
	}
	for key, want := range map[string]string{"a/empty": "", "a/small": "one", "a/lärge #1": string(large)} {
		if data, err := b.Get(t.Context(), key); err != nil || string(data) != want {
			t.Errorf("Get %s: got %d bytes, error %v, want %d bytes", key, len(data), err, len(want))
		}
	}
	if _, err := b.Get(t.Context(), "a/missing"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("Get of a missing object: got error %v, want ErrNotFound", err)
	}
	if err := b.DeleteAll(t.Context(), "a/small", "a/missing"); err != nil {
		t.Error(err)
	}
	if _, err := b.Get(t.Context(), "a/small"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("Get of a deleted object: got error %v, want ErrNotFound", err)
	}
	if err := b.DeleteAll(t.Context()); err != nil {
		t.Errorf("DeleteAll without keys: %v", err)
	}
}

func testLists(t *testing.T, b objectstore.Bucket) {
	t.Helper()
	began := time.Now()
	var keys []string
	for i := range 3 {
		keys = append(keys, fmt.Sprintf("list/%d", i))
		if err := b.Create(t.Context(), keys[i], []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for after, want := range map[string][]string{"": keys, keys[0]: keys[1:], keys[2]: nil} {
		objects, more, err := b.List(t.Context(), "list/", after)
		var got []string
		for _, o := range objects {
			got = append(got, o.Key)
			if age := o.Written.Sub(began); age < -2*time.Second || age > time.Minute {
				t.Errorf("%s: got the time %v, want about %v", o.Key, o.Written, began)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || more || err != nil {
			t.Errorf("List after %q: more %v, error %v; keys: mismatch (-want +got):\n%s", after, more, err, diff)
		}
	}
}

// A list has at most 1,000 objects, and DeleteAll needs one call for each 1,000 keys.
func TestPages(t *testing.T) {
	t.Parallel()
	b := newBucket(t, s3test.StartServer(t))
	var keys []string
	for i := range 1001 {
		keys = append(keys, fmt.Sprintf("a/%04d", i))
		if err := b.Create(t.Context(), keys[i], nil); err != nil {
			t.Fatal(err)
		}
	}
	first, more, err := b.List(t.Context(), "a/", "")
	if err != nil || len(first) != 1000 || !more {
		t.Fatalf("first page: got %d objects, more %v, error %v, want 1000 and more", len(first), more, err)
	}
	last, more, err := b.List(t.Context(), "a/", first[999].Key)
	if err != nil || len(last) != 1 || more {
		t.Errorf("last page: got %d objects, more %v, error %v, want 1 and no more", len(last), more, err)
	}
	if err := b.DeleteAll(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
	if rest, _, err := b.List(t.Context(), "a/", ""); err != nil || len(rest) > 0 {
		t.Errorf("after DeleteAll: got %d objects, error %v, want none", len(rest), err)
	}
}

// respond returns a handler that responds with an error of S3.
func respond(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>injected</Message></Error>", code)
	}
}

// TestErrors checks the classes of errors, and that transient errors are retried.
func TestErrors(t *testing.T) {
	t.Parallel()
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	short := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = w.Write([]byte("short"))
	}
	for name, tc := range map[string]struct {
		reply    http.HandlerFunc
		want     error // of Get and Create; nil means an error other than ErrNotFound and ErrUnavailable
		attempts int32
	}{
		"throttled":             {respond(http.StatusServiceUnavailable, "SlowDown"), objectstore.ErrUnavailable, 4},
		"an error of S3":        {respond(http.StatusInternalServerError, "InternalError"), objectstore.ErrUnavailable, 4},
		"a broken connection":   {cut, objectstore.ErrUnavailable, 4},
		"two conditional calls": {respond(http.StatusConflict, "ConditionalRequestConflict"), objectstore.ErrUnavailable, 4},
		"a missing bucket":      {respond(http.StatusNotFound, "NoSuchBucket"), nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				tc.reply(w, r)
			}))
			t.Cleanup(server.Close)
			b := newClient(server.URL).Bucket("files")
			_, getErr := b.Get(t.Context(), "a")
			createErr := b.Create(t.Context(), "a", []byte("x"))
			for _, err := range []error{getErr, createErr} {
				unavailable := errors.Is(err, objectstore.ErrUnavailable)
				if err == nil || unavailable != (tc.want != nil) || errors.Is(err, objectstore.ErrNotFound) {
					t.Errorf("got error %v, want %v", err, tc.want)
				}
			}
			if got := calls.Load(); got != 2*tc.attempts {
				t.Errorf("got %d calls, want %d attempts of each of two calls", got, tc.attempts)
			}
		})
	}
	for name, tc := range map[string]struct {
		reply http.HandlerFunc
		want  error
	}{
		"an incomplete object": {short, objectstore.ErrUnavailable},
		// S3 hides from a role without s3:ListBucket that an object is missing.
		"access denied": {respond(http.StatusForbidden, "AccessDenied"), objectstore.ErrNotFound},
	} {
		server := httptest.NewServer(tc.reply)
		t.Cleanup(server.Close)
		b := newClient(server.URL).Bucket("files")
		if _, err := b.Get(t.Context(), "a"); !errors.Is(err, tc.want) {
			t.Errorf("%s: got error %v, want %v", name, err, tc.want)
		}
	}
}

// A response that was lost does not make Create fail, because the retry finds its own object.
func TestCreateSurvivesLostResponse(t *testing.T) {
	t.Parallel()
	endpoint := s3test.StartServer(t)
	name := s3test.CreateBucket(t, s3test.Client(endpoint), "files")
	var puts atomic.Int32
	lost := s3test.Client(endpoint, func(o *s3.Options) {
		o.Retryer = awsclient.Retryer()
		o.HTTPClient = slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
			response, err := http.DefaultClient.Do(r)
			if err == nil && r.Method == http.MethodPut && puts.Add(1) == 1 {
				_ = response.Body.Close()
				return nil, errors.New("connection reset by peer")
			}
			return response, err
		})
	})
	b := objectstore.Wrap(s3test.Of(lost)).Bucket(name)
	if err := b.Create(t.Context(), "a", []byte("x")); err != nil || puts.Load() != 2 {
		t.Errorf("got error %v after %d attempts, want success after 2", err, puts.Load())
	}
}

// The name of the bucket is in the path only if another endpoint is set, because emulators have one host name.
func TestStyleOfURL(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ own, all, want string }{
		{own: "", all: "", want: ""},
		{own: "", all: "http://all", want: "http://all"},
		{own: "http://own", all: "http://all", want: "http://own"},
	} {
		o := objectstore.SDKOptions(objectstore.New(config.AWS{S3Endpoint: tc.own, Endpoint: tc.all}))
		if o.UsePathStyle != (tc.want != "") || aws.ToString(o.BaseEndpoint) != tc.want {
			t.Errorf("endpoints %q and %q: got path style %v and the endpoint %q, want %q",
				tc.own, tc.all, o.UsePathStyle, aws.ToString(o.BaseEndpoint), tc.want)
		}
	}
}

// TestCallsAreCounted checks that every operation counts one call for each call of S3.
func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	b := newBucket(t, s3test.StartServer(t))
	for _, step := range []struct {
		name string
		want int
		do   func(context.Context) error
	}{
		{"Create", 1, func(ctx context.Context) error { return b.Create(ctx, "a", []byte("one")) }},
		{"Create again", 2, func(ctx context.Context) error { return b.Create(ctx, "a", []byte("one")) }},
		{"Get", 1, func(ctx context.Context) error { _, err := b.Get(ctx, "a"); return err }},
		{"Size", 1, func(ctx context.Context) error { _, err := b.Size(ctx, "a"); return err }},
		{"DeletePrefix", 2, func(ctx context.Context) error { _, err := b.DeletePrefix(ctx, "a"); return err }},
		{"Put", 1, func(ctx context.Context) error { return b.Put(ctx, "b", strings.NewReader("one")) }},
	} {
		ctx := awsclient.CountCalls(t.Context())
		err := step.do(ctx)
		if n, total := awsclient.Calls(ctx, awsclient.S3); err != nil || n != step.want || total <= 0 {
			t.Errorf("%s: got %d calls in %v, error %v, want %d", step.name, n, total, err, step.want)
		}
	}
}
