package assistant

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
)

// TestPanics makes each call of a chat to DynamoDB panic, in the request's own goroutine, in a group of reads, or in
// the background. Only that request may fail.
func TestPanics(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CancelPoll = time.Millisecond }))
	var calls, panicsAt atomic.Int64
	through := slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
		if calls.Add(1) == panicsAt.Load() {
			panic("broken")
		}
		return slicetest.Transfers.Do(r)
	})
	f.startServices(dynamotest.Client(f.endpoint, func(o *dynamodb.Options) { o.HTTPClient = through }))
	failed := 0
	for n := int64(1); ; n++ {
		panicsAt.Store(0)
		user := f.newUser("user")
		projectID := user.newProject()
		at := calls.Load() + n
		f.model.enqueue(model.TaskChat, newResponse("Hello.").withStep(step{call: func() {
			for before := calls.Load(); calls.Load() == before && before < at; { // until the answer is polled
				time.Sleep(time.Millisecond)
			}
		}}))
		panicsAt.Store(at)
		r := user.chat(projectID, "Hello?")
		if calls.Load() < at {
			break
		}
		if r.Status != http.StatusOK {
			failed++
			r.Want(t, http.StatusInternalServerError, fault.CodeInternal)
		}
	}
	if failed < 4 { // at least the two reads of the project, and the reads of the files and the messages
		t.Errorf("%d requests failed, want at least 4", failed)
	}
	panicsAt.Store(0)
	other := f.newUser("other")
	other.chat(other.newProject(), "Hello?").Want(t, http.StatusOK)
}
