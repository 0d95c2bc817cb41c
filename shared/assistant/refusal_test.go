package assistant

import (
	"net/http"
	"testing"

	"devplatform/shared/fault"
)

// A user without tokens is refused before the files are read. The refused calls count towards the calls per minute.
func TestRefusedCallsCostLittle(t *testing.T) {
	t.Parallel()
	const perMinute = 3
	f := newFixture(t, withLimits(func(l *Limits) { l.CallsPerMinute, l.MonthlyTokens = perMinute, 100 }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	for call := range perMinute + 3 {
		// The first read, a search for crashed calls, and the count of the refused call.
		calls, status, code := int64(3), http.StatusPaymentRequired, fault.CodeQuotaExceeded
		if call >= perMinute {
			calls, status, code = 1, http.StatusTooManyRequests, fault.CodeRateLimited
		}
		r := ada.chat(projectID, "Hello?").Want(t, status, code)
		if r.Calls != calls {
			t.Errorf("call %d: got %d calls to DynamoDB, want %d", call+1, r.Calls, calls)
		}
		if call >= perMinute && r.Header.Get("Retry-After") == "" {
			t.Errorf("call %d: got no Retry-After", call+1)
		}
	}
	if n := len(f.model.requests()); n > 0 {
		t.Errorf("the model received %d requests, want none", n)
	}
}
