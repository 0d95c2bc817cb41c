package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"

	"devplatform/shared/lambdafn/apigateway"
)

// patience limits the wait for a response that comes at once on an idle machine.
const patience = time.Minute

// large returns a text of 25 MiB, the maximum size of a file. Its compressed form is large, too.
var large = sync.OnceValue(func() string {
	text := make([]byte, 25*mib)
	_, _ = rand.NewChaCha8([32]byte{}).Read(text)
	return hex.EncodeToString(text)[:25*mib]
})

// event returns an event of API Gateway with a request for a path of a host.
func event(t testing.TB, method, host, path string, header map[string][]string) []byte {
	t.Helper()
	e := events.APIGatewayProxyRequest{HTTPMethod: method, Path: path, MultiValueHeaders: header}
	e.RequestContext.DomainName = host
	payload, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// A large file needs little memory, however slowly the client reads it.
func TestLargeFiles(t *testing.T) { // it measures the memory of the process
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/plain": {text: large()}, "/gzip": {text: large(), gzip: true}})
	f.live(first)
	want := sha256.Sum256([]byte(large()))
	for _, path := range []string{"/plain", "/gzip"} {
		before := heap()
		response, err := apigateway.NewStream(f.handler, 256<<10)(t.Context(), event(t, "GET", host, path, nil))
		f.must(err)
		hash, grown := sha256.New(), uint64(0)
		for read := int64(0); ; {
			n, err := io.CopyN(hash, response.Body, 5*mib)
			if read += n; errors.Is(err, io.EOF) {
				break
			}
			f.must(err)
			if now := heap(); now > before {
				grown = max(grown, now-before)
			}
		}
		f.must(response.Close())
		if !bytes.Equal(hash.Sum(nil), want[:]) || response.StatusCode != 200 {
			t.Errorf("%s: got %d and other bytes", path, response.StatusCode)
		}
		t.Logf("%s: the heap grew by %d KiB", path, grown>>10)
		if grown > 4*mib {
			t.Errorf("%s: the heap grew by %d KiB, want at most 4 MiB", path, grown>>10)
		}
	}
}

// heap returns the size of the reachable objects.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// The bytes that were sent to a client that disconnects are counted. That is not an error.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/plain": {text: large()}})
	f.live(first)
	response, err := apigateway.NewStream(f.handler, 256<<10)(t.Context(), event(t, "GET", host, "/plain", nil))
	f.must(err)
	_, err = io.CopyN(io.Discard, response.Body, 3*mib)
	f.must(err)
	f.must(response.Close()) // waits until the handler has returned
	if got := f.counted("2031-05"); got < 3*mib || got > 4*mib {
		t.Errorf("counted %d bytes, want about 3 MiB", got)
	}
	if log := f.log.String(); strings.Contains(log, "ERROR") || !strings.Contains(log, `"cause":`) {
		t.Errorf("logged %s, want no error and a cause", log)
	}
}

// A response that cannot be completed is aborted, so that the client does not take it for complete.
func TestIncompleteFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/plain": {text: large()[:2*mib]}, "/gzip": {text: large()[:2*mib], gzip: true}})
	f.live(first)
	f.get(host, "/")
	f.change = func(r *http.Response) {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(r.Body, 200_000), cutBody{r.Body, 0}), r.Body}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = host
		f.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	for _, path := range []string{"/plain", "/gzip"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		f.must(err)
		request.Header.Set("Accept-Encoding", "identity")
		response, err := server.Client().Do(request)
		f.must(err)
		n, err := io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if err == nil || n == 0 || response.StatusCode != 200 {
			t.Errorf("%s: got status %d, %d bytes and error %v, want 200, some bytes and an error", path,
				response.StatusCode, n, err)
		}
	}
	if !strings.Contains(f.log.String(), `"level":"ERROR"`) {
		t.Errorf("logged %s, want an error", f.log)
	}
}

// A response with a small file is complete before the client reads it.
func TestSmallFilesDoNotWait(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/plain": {text: large()[:maxSmall]}})
	f.live(first)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	response, err := apigateway.NewStream(f.handler, 256<<10)(ctx, event(t, "GET", host, "/plain", nil))
	f.must(err)
	for !strings.Contains(f.log.String(), `"msg":"view"`) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != large()[:maxSmall] {
		t.Errorf("got %d bytes and error %v, want the file; log: %s", len(body), err, f.log)
	}
	f.must(response.Close())
}

// If a client reads too slowly, the response is aborted shortly before the function's time limit.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.deploy(first, map[string]content{"/plain": {text: large()}})
	f.live(first)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	response, err := apigateway.NewStream(f.handler, 256<<10)(ctx, event(t, "GET", host, "/plain", nil))
	f.must(err)
	<-ctx.Done()
	n, err := io.Copy(io.Discard, response.Body)
	if err == nil || n == 0 || n > mib {
		t.Errorf("got %d bytes and error %v, want the buffer and an error", n, err)
	}
	f.must(response.Close())
}
