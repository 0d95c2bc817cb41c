package file

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// A project can have a million uploads that were completed in a day. This test is not parallel, because it measures the
// memory of the process.
func TestOpenUploadsNeedConstantMemory(t *testing.T) {
	const pages, perPage, maxGrowth = 20, 1000, 2 << 20
	completed := `{"pk":{"S":"a"},"sk":{"S":"UPLOAD#upl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"},"status":{"S":"completed"}}`
	page := `{"Items":[` + strings.Repeat(completed+",", perPage) + completed + `]`
	var first, last runtime.MemStats
	n := 0
	wire := dynamotest.NewWire(t, "http://127.0.0.1:1", func(_ http.Handler, out http.ResponseWriter, _ *http.Request) {
		runtime.GC()
		if runtime.ReadMemStats(&last); n == 0 {
			first = last
		}
		n++
		next := ""
		if n < pages {
			next = `,"LastEvaluatedKey":{"pk":{"S":"a"},"sk":{"S":"b"}}`
		}
		out.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = fmt.Fprintf(out, "%s%s}", page, next)
	})
	client := db.Wrap(wire.Client(), clock.System)
	s := store{Access: workspace.Access{Projects: client.Table("projects")}, client: client}
	open, err := s.openUploads(t.Context(), "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK")
	grown := int64(last.HeapAlloc) - int64(first.HeapAlloc)
	if err != nil || len(open) != 0 || n != pages || grown > maxGrowth {
		t.Errorf("got %d open uploads, error %v, and %d more bytes in memory after %d pages, want at most %d after %d",
			len(open), err, grown, n, maxGrowth, pages)
	}
}
