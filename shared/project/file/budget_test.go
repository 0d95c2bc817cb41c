package file_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
)

// Each request makes the expected number of calls to DynamoDB, and to S3. The depth is the number of calls to DynamoDB
// that wait for each other. On a busy machine, calls of one request can begin one after the other, and the depth is
// then larger. So if only depths are larger, all requests are made again, up to twice.
func TestFileRequestCallCounts(t *testing.T) {
	t.Parallel()
	var deeper []string
	for range 3 {
		if deeper = checkCallCounts(t); deeper == nil || t.Failed() {
			break
		}
	}
	for _, text := range deeper {
		t.Error(text)
	}
}

// checkCallCounts reports an error for each request with the wrong numbers of calls or too small a depth, and returns
// a text for each request with too large a depth.
func checkCallCounts(t *testing.T) (deeper []string) {
	t.Helper()
	f := projecttest.New(t)
	f.UseProxy(slicetest.Slow)
	client := f.NewFilesClient("ada")
	deep := strings.Repeat("/d", 99)
	video, upload := randomBytes(2<<20), announced{}
	operations := []object{}
	for i := range 20 {
		operations = append(operations, creation(fmt.Sprintf("/many/%d", i), base64Of(randomBytes(6_000))))
	}
	for _, tc := range []struct {
		name                  string
		do                    func() response
		status                int
		calls, depth, s3Calls int64
	}{
		{"create", func() response { return client.Save("/a/b/c", "1") }, http.StatusCreated, 5, 3, 0},
		{"create the largest file", func() response {
			return client.SaveBytes("/large", randomBytes(1<<20))
		}, http.StatusCreated, 4, 3, 1},
		{"create at a depth of 98", func() response { return client.Save(deep[:2*98], "1") }, http.StatusCreated, 5, 3, 0},
		{"create at a depth of 150", func() response {
			return client.Save("/x"+strings.Repeat("/y", 150), "1")
		}, http.StatusCreated, 6, 3, 0},
		{"update", func() response { return client.Save("/a/b/c", "2") }, http.StatusOK, 3, 3, 0},
		{"update the largest file", func() response {
			return client.SaveBytes("/large", randomBytes(1<<20))
		}, http.StatusOK, 3, 3, 1},
		{"save unchanged content", func() response { return client.Save("/a/b/c", "2") }, http.StatusOK, 2, 2, 0},
		{"save without access", func() response {
			return f.NewUser("eve").FilesOf(client.ProjectID).SaveBytes("/large", randomBytes(10_000))
		}, http.StatusNotFound, 2, 2, 0},
		{"save with a failed precondition", func() response {
			body := object{"path": "/large", "content": base64Of(randomBytes(10_000))}
			return client.Post(body, slicetest.Header("If-None-Match", "*"))
		}, http.StatusPreconditionFailed, 2, 2, 0},
		{"announce", func() response {
			r := client.TryAnnounce("/video", video, nil)
			upload = client.AnnouncedOf(r, video)
			upload.Put(nil)
			return r
		}, http.StatusCreated, 4, 3, 0},
		{"complete", func() response { return upload.Complete() }, http.StatusCreated, 6, 5, 1},
		{"complete again", func() response { return upload.Complete() }, http.StatusOK, 4, 4, 0},
		{"read a file with a URL", func() response { return client.Read("/video") }, http.StatusOK, 2, 2, 0},
		{"delete a file with a URL", func() response { return client.Remove("/video") }, http.StatusOK, 3, 3, 0},
		{"read", func() response { return client.Read("/a/b/c") }, http.StatusOK, 2, 2, 0},
		{"read the largest file", func() response { return client.Read("/large") }, http.StatusOK, 2, 2, 1},
		{"list", func() response { return client.Get(client.URL()) }, http.StatusOK, 3, 2, 0},
		{"list a page", func() response { return client.Get(client.URL() + "?limit=1") }, http.StatusOK, 3, 2, 0},
		{"list with contents", func() response {
			return client.Get(client.URL() + "?include=content")
		}, http.StatusOK, 4, 3, 1},
		{"history", func() response { return client.History("/a/b/c", "") }, http.StatusOK, 3, 2, 0},
		{"delete a version", func() response {
			return client.DeleteVersion("/a/b/c", client.History("/a/b/c", "").Texts("versions", "version")[1])
		}, http.StatusOK, 3, 3, 0},
		{"rename a large file", func() response {
			return client.Batch(renaming("/large", "/larger"))
		}, http.StatusOK, 4, 3, 0},
		{"delete", func() response { return client.Remove("/larger") }, http.StatusOK, 3, 3, 0},
		{"rename", func() response { return client.Batch(renaming("/a/b/c", "/a/c")) }, http.StatusOK, 5, 3, 0},
		{"batch", func() response {
			return client.Batch(update("/a/c", "3"), creation("/e", ""), creation("/f", ""))
		}, http.StatusOK, 5, 3, 0},
		{"batch of large files", func() response { return client.Batch(operations...) }, http.StatusOK, 24, 3, 20},
	} {
		before := f.S3Calls.Load()
		r := tc.do().Want(t, tc.status)
		s3Calls := f.S3Calls.Load() - before
		text := fmt.Sprintf("%s: got %d calls to DynamoDB with depth %d and %d calls to S3, want %d, %d and %d",
			tc.name, r.Calls, r.Depth, s3Calls, tc.calls, tc.depth, tc.s3Calls)
		switch {
		case r.Calls != tc.calls || r.Depth < tc.depth || s3Calls != tc.s3Calls:
			t.Error(text)
		case r.Depth > tc.depth:
			deeper = append(deeper, text)
		}
	}
	return deeper
}

// Each save consumes the expected write units in each table: twice the size of the items in KB, because of the
// transaction, and 2 for the bytes that the user writes on the day. Large contents consume none, because they are
// objects. The embedded DynamoDB computes write units in the same way as AWS.
func TestSaveWriteUnits(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	meter := &unitMeter{}
	f.UseProxy(meter.pass)
	client := f.NewFilesClient("ada")
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
		{"4 KiB of text, new", func() response { return client.Save("/src/app.ts", text(4096)) }, 6, 2, 2},
		{"4 KiB of text, update", func() response { return client.Save("/src/app.ts", text(4097)[1:]) }, 8, 2, 2},
		{"the largest chunk, new", func() response {
			return client.SaveBytes("/4.bin", randomBytes(content.MaxInline-1))
		}, 6, 8, 2},
		{"the largest chunk, update", func() response {
			return client.SaveBytes("/4.bin", randomBytes(content.MaxInline-1))
		}, 8, 8, 2},
		{"4 KiB of random bytes, new", func() response { return client.SaveBytes("/5.bin", randomBytes(4096)) }, 6, 0, 2},
		{"100 KiB of text, update", func() response { return client.Save("/src/app.ts", text(100<<10)) }, 8, 0, 2},
		{"100 KiB of random bytes, new", func() response {
			return client.SaveBytes("/100.bin", randomBytes(100<<10))
		}, 6, 0, 2},
		{"1 MiB of random bytes, new", func() response {
			return client.SaveBytes("/1m.bin", randomBytes(1<<20))
		}, 6, 0, 2},
		{"delete", func() response { return client.Remove("/1m.bin") }, 6, 0, 2},
		{"rename", func() response { return client.Batch(renaming("/100.bin", "/200.bin")) }, 8, 0, 4},
	} {
		meter.reset()
		if r := tc.save(); r.Status >= http.StatusBadRequest {
			t.Fatalf("%s: %s", tc.name, r.Raw)
		}
		want := map[string]float64{f.Tables.Projects: tc.projects, f.Tables.Events: tc.events}
		if tc.contents > 0 {
			want[f.Tables.Contents] = tc.contents
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

// The largest batch has the maximum number of actions, the longest paths and, in each operation, the largest content
// that is a chunk. It has at most 4,000,000 bytes, and the embedded DynamoDB enforces both limits of a transaction. A
// batch of 3 MiB writes less than 100 units to each partition, which accepts 1,000 units per second. All items of a
// project in a table are in one partition.
func TestLargestBatches(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	meter := &unitMeter{}
	f.UseProxy(meter.pass)
	client := f.NewFilesClient("ada")
	for _, tc := range []struct {
		path     string
		size     int
		maxUnits float64
	}{
		{"/%02d" + strings.Repeat("é", 126) + "/" + strings.Repeat("é", 127), content.MaxInline - 1, math.Inf(1)},
		{"/src/images/%d.png", 3 << 20 / 20, 99},
	} {
		for _, action := range []file.Action{file.Create, file.Update} {
			meter.reset()
			var ops []file.Operation
			for i := range 20 {
				text, path := base64Of(randomBytes(tc.size)), fmt.Sprintf(tc.path, i)
				ops = append(ops, file.Operation{Action: action, Path: path, Content: &text, Encoding: file.Base64})
			}
			if err := f.Files.ApplyBatch(t.Context(), client.Caller(), client.ProjectID, ops); err != nil {
				t.Fatal(err)
			}
			if meter.actions > 100 || meter.bytes > 4_000_000 {
				t.Errorf("%s: got %d actions and %d bytes, want at most 100 and 4,000,000", action, meter.actions, meter.bytes)
			}
			for table, units := range meter.read() {
				if units > tc.maxUnits {
					t.Errorf("%s: got %v write units in %s, want at most %v", action, units, table, tc.maxUnits)
				}
			}
		}
	}
	client.CheckTree()
}
