package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// callTime is the least time that each call of a function to DynamoDB takes. Calls that a request starts at the same
// time then also run at the same time, as on AWS.
const callTime = 5 * time.Millisecond

// calls are the numbers of calls of a request.
type calls struct {
	depth    int // the maximum number of calls to DynamoDB that wait for each other
	dynamoDB int
	s3       int
}

// readCalls reads the table of the calls of all operations that callEverything calls successfully.
func readCalls(t *testing.T) map[string]calls {
	t.Helper()
	table, err := os.ReadFile("testdata/calls.txt")
	must(t, err)
	all := map[string]calls{}
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var method, path string
		var c calls
		if _, err := fmt.Sscan(line, &method, &path, &c.depth, &c.dynamoDB, &c.s3); err != nil {
			t.Fatalf("testdata/calls.txt: %q: %v", line, err)
		}
		all[method+" "+path] = c
	}
	return all
}

// delay waits for callTime if the request is one of a function to DynamoDB.
func (w *watched) delay(r *http.Request) {
	if w.functionOf(r) != "" {
		time.Sleep(callTime)
	}
}

// recordCalls records the calls of a successful request from its line in the log of a function.
func (w *watched) recordCalls(line string) {
	var request struct {
		Msg, Operation string
		Status         int
		DynamodbDepth  int
		DynamodbCalls  int
		S3Calls        int
	}
	if json.Unmarshal([]byte(line), &request) != nil || request.Msg != "request" || request.Status >= http.StatusBadRequest {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, requestCalls{request.Operation, calls{request.DynamodbDepth, request.DynamodbCalls, request.S3Calls}})
}

// requestCalls are the calls of one request.
type requestCalls struct {
	operation string
	calls
}

// updateSmallest stores the numbers of this run that are smaller than the numbers in smallest. Other requests can
// have retried after a conflict, or can have done work that is not always due.
func (w *watched) updateSmallest(smallest map[string]calls) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.calls {
		least, ok := smallest[r.operation]
		if !ok {
			least = r.calls
		}
		smallest[r.operation] = calls{
			min(least.depth, r.depth), min(least.dynamoDB, r.dynamoDB), min(least.s3, r.s3),
		}
	}
}

// checkCalls compares the calls of all operations with the table. A depth is never smaller than the number of calls
// that depend on each other, but it can be larger: on a busy machine, concurrent calls can begin one after the other,
// and an answer of the model can take so long that the function reads whether it was cancelled. So if the calls differ,
// checkCalls calls everything again, up to twice, and uses the smallest numbers of all runs.
func (w *watched) checkCalls(t *testing.T) {
	t.Helper()
	want, got := readCalls(t), map[string]calls{}
	w.updateSmallest(got)
	for run := 1; run <= 2 && !maps.Equal(got, want); run++ {
		again := newWatched(t)
		again.callEverything()
		again.updateSmallest(got)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(calls{})); diff != "" {
		t.Errorf("testdata/calls.txt differs from the calls of the operations (-want +got):\n%s", diff)
	}
}
