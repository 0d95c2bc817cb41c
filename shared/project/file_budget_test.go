package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
)

// Each request makes the expected number of DynamoDB calls, including the call for the session.
func TestFileRequestCallCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	calls := func(name string, r response, status int, want int64) {
		t.Helper()
		if r.Want(t, status); r.Calls != want {
			t.Errorf("%s: got %d calls, want %d", name, r.Calls, want)
		}
	}
	deep := strings.Repeat("/d", 99)
	calls("create", client.save("/a/b/c", "1"), http.StatusCreated, 5)
	calls("create the largest file", client.saveBytes("/large", randomBytes(1<<20)), http.StatusCreated, 5)
	calls("create at a depth of 98", client.save(deep[:2*98], "1"), http.StatusCreated, 5)
	calls("create at a depth of 150", client.save("/x"+strings.Repeat("/y", 150), "1"), http.StatusCreated, 6)
	calls("update", client.save("/a/b/c", "2"), http.StatusOK, 4)
	calls("update the largest file", client.saveBytes("/large", randomBytes(1<<20)), http.StatusOK, 4)
	calls("save unchanged content", client.save("/a/b/c", "2"), http.StatusOK, 3)
	calls("read", client.read("/a/b/c"), http.StatusOK, 4)
	calls("read the largest file", client.read("/large"), http.StatusOK, 4)
	calls("list", client.Get(client.url()), http.StatusOK, 4)
	calls("list a page", client.Get(client.url()+"?limit=1"), http.StatusOK, 4)
	calls("list with contents", client.Get(client.url()+"?include=content"), http.StatusOK, 5)
	calls("history", client.history("/a/b/c", ""), http.StatusOK, 4)
	calls("delete", client.remove("/large"), http.StatusOK, 4)
	calls("rename", client.batch(renaming("/a/b/c", "/a/c")), http.StatusOK, 5)
	calls("batch", client.batch(update("/a/c", "3"), creation("/e", ""), creation("/f", "")), http.StatusOK, 6)
}

// Each save consumes the expected write units in each table: twice the size of the items in KB, because of the
// transaction. The embedded DynamoDB computes write units in the same way as AWS.
func TestSaveWriteUnits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	meter := &unitMeter{}
	f.useProxy(meter.pass)
	client := f.newFilesClient("ada")
	text := func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "export const value%d = compute(%d, \"%x\");\n", i, i*7919, i*104729)
		}
		return b.String()[:n]
	}
	for _, tc := range []struct {
		name                       string
		save                       func() response
		projects, contents, events float64
	}{
		{"4 KiB of text, new", func() response { return client.save("/src/app.ts", text(4096)) }, 4, 2, 2},
		{"4 KiB of text, update", func() response { return client.save("/src/app.ts", text(4097)[1:]) }, 6, 2, 2},
		{"4 KiB of random bytes, new", func() response { return client.saveBytes("/4.bin", randomBytes(4096)) }, 4, 10, 2},
		{"4 KiB of random bytes, update", func() response { return client.saveBytes("/4.bin", randomBytes(4096)) }, 6, 10, 2},
		{"100 KiB of text, update", func() response { return client.save("/src/app.ts", text(100<<10)) }, 6, 42, 2},
		{"100 KiB of random bytes, new", func() response {
			return client.saveBytes("/100.bin", randomBytes(100<<10))
		}, 4, 202, 2},
		{"1 MiB of random bytes, new", func() response {
			return client.saveBytes("/1m.bin", randomBytes(1<<20))
		}, 4, 2054, 2},
		{"delete", func() response { return client.remove("/1m.bin") }, 6, 0, 2},
		{"rename", func() response { return client.batch(renaming("/100.bin", "/200.bin")) }, 8, 0, 4},
	} {
		meter.reset()
		if r := tc.save(); r.Status >= http.StatusBadRequest {
			t.Fatalf("%s: %s", tc.name, r.Raw)
		}
		want := map[string]float64{f.tableNames.projects: tc.projects, f.tableNames.events: tc.events}
		if tc.contents > 0 {
			want[f.tableNames.contents] = tc.contents
		}
		if diff := cmp.Diff(want, meter.read()); diff != "" {
			t.Errorf("%s: write units by table: mismatch (-want +got):\n%s", tc.name, diff)
		}
	}
}

// unitMeter records the consumed write units and the size of transactions.
type unitMeter struct {
	mu             sync.Mutex
	units          map[string]float64
	actions, bytes int // of the largest transaction
}

func (m *unitMeter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.units, m.actions, m.bytes = map[string]float64{}, 0, 0
}

func (m *unitMeter) read() map[string]float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.units)
}

func (m *unitMeter) pass(next http.Handler, out http.ResponseWriter, r *http.Request) {
	if dynamotest.Operation(r) != "TransactWriteItems" {
		next.ServeHTTP(out, r)
		return
	}
	sent, _ := io.ReadAll(r.Body)
	sent = append(sent[:len(sent)-1], `,"ReturnConsumedCapacity":"TOTAL"}`...)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
	r.Header.Set("Content-Length", strconv.Itoa(len(sent)))
	copied := &copier{ResponseWriter: out}
	next.ServeHTTP(copied, r)
	m.record(sent, copied.body.Bytes())
}

// record records the sizes of a transaction and the write units in its response.
func (m *unitMeter) record(requestBody, responseBody []byte) {
	var request struct{ TransactItems []any }
	var response struct {
		ConsumedCapacity []struct {
			TableName     string
			CapacityUnits float64
		}
	}
	if json.Unmarshal(requestBody, &request) != nil || json.Unmarshal(responseBody, &response) != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.actions, m.bytes = max(m.actions, len(request.TransactItems)), max(m.bytes, itemBytes(request.TransactItems))
	for _, c := range response.ConsumedCapacity {
		if m.units != nil {
			m.units[c.TableName] += c.CapacityUnits
		}
	}
}

// itemBytes returns an upper bound of the size of a transaction: the size of all strings and binary values in it.
func itemBytes(v any) int {
	sum := 0
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		for _, e := range v {
			sum += itemBytes(e)
		}
	case map[string]any:
		if data, ok := v["B"].(string); ok && len(v) == 1 {
			return len(data) / 4 * 3
		}
		for k, e := range v {
			sum += len(k) + itemBytes(e)
		}
	}
	return sum
}

// copier copies the body of a response.
type copier struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (c *copier) Write(p []byte) (int, error) {
	c.body.Write(p)
	return c.ResponseWriter.Write(p)
}

// The largest batch has the maximum number of actions and chunks, 3 MiB of incompressible content and the longest
// paths. The test calls the Service, because an HTTP request body has at most 4 MiB, which is too small for this batch
// in base64. The embedded DynamoDB enforces both limits of a transaction. The test also checks that the size is at most
// 4,000,000 bytes.
func TestLargestBatchFitsTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	meter := &unitMeter{}
	f.useProxy(meter.pass)
	client := f.newFilesClient("ada")
	caller := httpapi.Caller{UserID: client.userID, Username: client.name}
	const maxOperations = 20
	for _, action := range []file.Action{file.Create, file.Update} {
		meter.reset()
		var ops []file.BatchOperation
		rest := 3 << 20
		for i := range maxOperations {
			size := min(content.MaxChunk, rest-(maxOperations-1-i))
			if i == maxOperations-1 {
				size = rest
			}
			rest -= size
			text := base64Of(randomBytes(size))
			path := fmt.Sprintf("/%02d/%s", i, strings.Repeat("é", 254))
			ops = append(ops, file.BatchOperation{Action: action, Path: path, Content: &text, Encoding: file.Base64})
		}
		if err := f.files.Change(t.Context(), caller, client.projectID, ops); err != nil {
			t.Fatal(err)
		}
		if meter.actions > 100 || meter.bytes > 4_000_000 {
			t.Errorf("%s: got %d actions and %d bytes, want at most 100 and 4,000,000", action, meter.actions, meter.bytes)
		}
		t.Logf("%s: %d actions, at most %d bytes", action, meter.actions, meter.bytes)
	}
	client.checkTree()
}
