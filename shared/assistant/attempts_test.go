package assistant

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/awsclient"
)

// alternating returns a fault that makes each operation of the retry loop fail with a conflict, after three errors that
// the SDK retries.
func alternating() dynamotest.Fault {
	var calls atomic.Int64
	return dynamotest.Fault{Name: "errors and conflicts", Reply: func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1)%awsclient.MaxAttempts == 0 {
			dynamotest.Conflict.Reply(w, r)
			return
		}
		dynamotest.ServerError.Reply(w, r)
	}}
}

// TestAttempts counts the attempts of transactions while storage always fails. The retries of the layers must not
// multiply.
func TestAttempts(t *testing.T) {
	t.Parallel()
	for _, fault := range []dynamotest.Fault{
		dynamotest.ServerError, dynamotest.Throttled, dynamotest.Conflict.Times(0), alternating(),
	} {
		t.Run(fault.Name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			projectID := ada.newProject()
			wire := dynamotest.NewWire(t, f.endpoint, nil)
			f.startServices(wire.Client(func(o *dynamodb.Options) { o.Retryer = awsclient.Retryer() }))
			check := func(name string, most int, send func() int) {
				t.Helper()
				status := send()
				if hits := wire.Hits(); hits == 0 || hits > most || status < http.StatusConflict {
					t.Errorf("%s: got status %d after %d attempts, want an error after at most %d", name, status, hits, most)
				}
				wire.Clear()
			}
			// The budget of db.Retry has 20 attempts. The budget of turn.store has storeAttempts*awsclient.MaxAttempts.
			check("save", 20, func() int {
				wire.Break("TransactWriteItems", fault)
				return ada.Do(http.MethodPost, "/api/projects/"+projectID+"/files", object{"path": "/a.ts", "content": "1"}).Status
			})
			check("reservation", 20, func() int {
				wire.Break("TransactWriteItems", fault)
				return ada.chat(projectID, "Hello?").Status
			})
			check("answer", storeAttempts*awsclient.MaxAttempts, func() int {
				f.model.enqueue(model.TaskChat, newResponse("Here.").withFunc(func() {
					wire.Break("TransactWriteItems", fault)
				}))
				return ada.chat(projectID, "Hello?", "apply", true).Status
			})
		})
	}
}
