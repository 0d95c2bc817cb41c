package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// callTime is the least time that each call of a function to DynamoDB takes. Calls that a request starts at the same time
// then also run at the same time, as on AWS.
const callTime = 5 * time.Millisecond

// depths are the maximum numbers of DynamoDB calls of a request that wait for each other, by operation. On AWS, the
// latency of a request is about this number times the latency of a call.
var depths = map[string]int{
	"GET /api/auth/me": 1, "POST /api/auth/signup": 2, "POST /api/auth/logout": 1, "PUT /api/auth/password": 4,
	"POST /api/auth/login":   3, // the account; the limits; the session
	"GET /api/auth/sessions": 2, "DELETE /api/auth/sessions/{id}": 2,
	"GET /api/auth/identities": 1, "DELETE /api/auth/identities/{id}": 4,
	"GET /api/auth/codehost": 2, "POST /api/auth/codehost/link": 3, "GET /api/auth/codehost/callback": 4,

	"GET /api/workspaces": 1, "POST /api/workspaces": 2,
	"GET /api/workspaces/{id}/members": 1, "POST /api/workspaces/{id}/members": 4,
	"PUT /api/workspaces/{id}/members/{userId}": 2, "DELETE /api/workspaces/{id}/members/{userId}": 4,

	// Two reads: the session with the project's tree, and the caller's access with the data. A change adds its transaction.
	"GET /api/projects": 2, "POST /api/projects": 2,
	"GET /api/projects/{id}": 2, // and once a minute the write of lastOpenedAt
	"PUT /api/projects/{id}": 3, "DELETE /api/projects/{id}": 3,
	"GET /api/projects/{id}/variables": 2, "PUT /api/projects/{id}/variables": 3,
	"GET /api/projects/{id}/events":   2,
	"GET /api/projects/{id}/comments": 2, "POST /api/projects/{id}/comments": 3,
	"DELETE /api/projects/{id}/comments/{commentId}": 3,

	"GET /api/projects/{id}/files":  2, // 3 for a list with contents
	"POST /api/projects/{id}/files": 3, "DELETE /api/projects/{id}/files": 3, "POST /api/projects/{id}/files/batch": 3,
	"GET /api/projects/{id}/files/history": 2, "DELETE /api/projects/{id}/files/history": 3,
	"POST /api/projects/{id}/uploads":                     3,
	"POST /api/projects/{id}/uploads/{uploadId}/complete": 5, // the upload; the reads and the transaction of a save
	"POST /api/projects/{id}/exports":                     3, "GET /api/projects/{id}/exports/{exportId}": 2,

	"GET /api/projects/{id}/deployments": 2, "POST /api/projects/{id}/deployments": 3,
	"GET /api/projects/{id}/deployments/{deploymentId}":          2,
	"DELETE /api/projects/{id}/deployments/{deploymentId}":       3,
	"GET /api/projects/{id}/deployments/{deploymentId}/files":    2,
	"GET /api/projects/{id}/deployments/{deploymentId}/log":      2,
	"POST /api/projects/{id}/deployments/{deploymentId}/promote": 3,
	"GET /api/projects/{id}/site":                                2, "PUT /api/projects/{id}/site": 3, "DELETE /api/projects/{id}/site": 3,

	// Two reads and the reservation before the model, and a transaction after it.
	"POST /api/ai/chat": 4, "POST /api/ai/chat/stream": 4,
	"POST /api/ai/generate": 3, "POST /api/ai/messages/{id}/cancel": 2, "GET /api/ai/usage": 1,
	"GET /api/ai/conversations/{projectId}": 2, "DELETE /api/ai/conversations/{projectId}": 6,

	"GET /api/webhooks": 2, "GET /api/webhooks/{id}": 2, "PUT /api/webhooks/{id}": 3, "DELETE /api/webhooks/{id}": 3,
	"POST /api/webhooks":                7, // the counts of all workspaces of the account are read one after the other
	"GET /api/webhooks/{id}/deliveries": 2, "GET /api/webhooks/{id}/deliveries/{deliveryId}": 2,
	"POST /api/webhooks/{id}/deliveries/{deliveryId}/redeliver": 4,
	"POST /api/webhooks/{id}/recover":                           4, "POST /api/webhooks/{id}/test": 5,

	"GET /api/openapi.json": 0,
}

// delay waits for callTime if the request is one of a function to DynamoDB.
func (w *watched) delay(r *http.Request) {
	if w.functionOf(r) != "" {
		time.Sleep(callTime)
	}
}

// recordDepth records the depth of a successful request from its line in the log of a function.
func (w *watched) recordDepth(line string) {
	var request struct {
		Msg, Operation string
		Status         int
		DynamodbDepth  int
	}
	if json.Unmarshal([]byte(line), &request) != nil || request.Msg != "request" || request.Status >= http.StatusBadRequest {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.depths[request.Operation] = append(w.depths[request.Operation], request.DynamodbDepth)
}

// smallestDepths returns the smallest depth of the requests of each operation. Others can have retried after a conflict, or can
// have done work that is not always due.
func (w *watched) smallestDepths() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	smallest := map[string]int{}
	for operation, all := range w.depths {
		smallest[operation] = slices.Min(all)
	}
	return smallest
}

// checkDepths compares the depths with the table. A depth is never smaller than the number of calls that depend on each
// other, but it can be larger: on a busy machine, concurrent calls can begin one after the other, and an answer of
// the model can take so long that the function reads whether it was cancelled. So if the depths differ, checkDepths calls
// everything again, up to twice, and uses the smallest depths of all runs.
func (w *watched) checkDepths(t *testing.T) {
	t.Helper()
	smallest := w.smallestDepths()
	for run := 1; run <= 2 && !maps.Equal(smallest, depths); run++ {
		t.Logf("run %d: the depths of the calls to DynamoDB, by operation (-want +got):\n%s", run, cmp.Diff(depths, smallest))
		again := newWatched(t)
		again.callEverything()
		for operation, depth := range again.smallestDepths() {
			if known, ok := smallest[operation]; !ok || depth < known {
				smallest[operation] = depth
			}
		}
	}
	if diff := cmp.Diff(depths, smallest); diff != "" {
		t.Errorf("the depths of the calls to DynamoDB, by operation (-want +got):\n%s", diff)
	}
}
