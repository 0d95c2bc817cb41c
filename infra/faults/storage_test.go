package faults

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// gatewayTimeout is the longest time that the gateway waits for a response that is not streamed.
const gatewayTimeout = 29 * time.Second

// outcome is the response to a request, and the time that it took.
type outcome struct {
	request
	response platformtest.Response
	took     time.Duration
}

// sendAll sends requests at the same time.
func sendAll(requests []request) []outcome {
	outcomes := make([]outcome, len(requests))
	var group sync.WaitGroup
	for i, r := range requests {
		group.Go(func() {
			begin := time.Now()
			response := r.send()
			outcomes[i] = outcome{r, response, time.Since(begin)}
		})
	}
	group.Wait()
	return outcomes
}

// requestDuring sends requests of every kind during a fault, and again after it. If allFail is set, every request must
// fail during the fault. Otherwise a request may succeed, or end with a conflict: the requests change the same project
// at the same time, and the fault may leave no time to try again.
func (w *world) requestDuring(t *testing.T, f fault, allFail bool) {
	t.Helper()
	w.t, w.ada.T = t, t
	requests := w.requests()
	w.cloud.inject(f)
	// Both dumps are made during the fault, because the clean-up of replaced contents works before and after it.
	before := w.dumpTables()
	outcomes := sendAll(requests)
	after := w.dumpTables()
	hits := w.cloud.repair()
	if f.handle != nil && hits == 0 {
		t.Fatal("no call had the fault")
	}
	slowest := time.Duration(0)
	for _, o := range outcomes {
		slowest = max(slowest, o.took)
		switch {
		case o.took > gatewayTimeout && !strings.HasPrefix(o.path, "/api/ai/"): // their responses are streamed
			t.Errorf("%s took %v, want at most %v", o.name, o.took, gatewayTimeout)
		case slices.Contains(o.good, o.response.Status) && !allFail:
		case o.response.Status == http.StatusConflict && !allFail:
			o.response.WantError(t, http.StatusConflict, "CONFLICT")
		default:
			checkUnavailable(w, o.request, o.response)
		}
	}
	t.Logf("%d calls of %d requests had the fault; the slowest response took %v",
		hits, len(requests), slowest.Round(time.Millisecond))
	if !f.executes && f.affects == nil {
		if changed := changedKeys(before, after); len(changed) > 0 {
			t.Errorf("all responses were 503, but these items changed: %q", changed)
		}
	}
	repaired := time.Now()
	w.checkAgain(requests)
	w.checkConsistency()
	w.waitForDeliveries()
	t.Logf("all checks passed %v after the fault", time.Since(repaired).Round(time.Millisecond))
}

// checkAgain sends requests again after a fault. They succeed, or respond that the first request made the change. A
// process that started during the fault has no keys until it fetches them again, so a 503 response is repeated for a
// few seconds.
func (w *world) checkAgain(requests []request) {
	w.t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for _, r := range requests {
		response, want := r.send(), append(slices.Clone(r.good), r.again...)
		for response.Status == http.StatusServiceUnavailable && time.Now().Before(deadline) {
			time.Sleep(200 * time.Millisecond)
			response = r.send()
		}
		if !slices.Contains(want, response.Status) {
			w.t.Errorf("%s after the fault: got %d %s, want %v", r.name, response.Status, response.Body, want)
		}
	}
}

// selectFaults returns the first three faults, or all of them in the full form of the tests (make faults). The first
// three are as different as possible.
func selectFaults(all ...fault) []fault {
	if testmode.IsNightly() {
		return all
	}
	return all[:min(3, len(all))]
}

// While DynamoDB rejects all calls, every request gets 503 and changes nothing. After that, the same processes continue
// to work.
func TestStorageRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, f := range selectFaults(throughput, failing, refused, throttled, overLimit, proxied, cut) {
		if !t.Run(f.name, func(t *testing.T) { w.requestDuring(t, f, true) }) {
			break
		}
	}
}

// Responses of DynamoDB are lost or incomplete. No change is made in part, and it is safe to send a request again.
func TestResponsesOfStorageAreLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, f := range selectFaults(torn, lost.writes(), lost, torn.writes()) {
		if !t.Run(f.name, func(t *testing.T) { w.requestDuring(t, f, f.failsAll()) }) {
			break
		}
	}
}

// All writes fail, or all calls of one table. Requests that need them get 503, and no change is made in part.
func TestStorageFailsInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, f := range selectFaults(
		throttled.writes(), failing.table("ContentsTable"), throttled.table("WebhooksTable"), throughput.table("EventsTable"),
		throttled.table("ConversationsTable"), failing.table("AccountsTable"),
	) {
		if !t.Run(f.name, func(t *testing.T) { w.requestDuring(t, f, f.failsAll()) }) {
			break
		}
	}
}

// DynamoDB does not respond, or responds late. Clients get a response before the gateway or the function times out.
func TestStorageHangs(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{dead, hanging.writes(), slow(1500 * time.Millisecond)} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			newWorld(t).requestDuring(t, f, f.failsAll())
		})
	}
}

// failsAll reports whether every request must fail during the fault: no call to DynamoDB can succeed.
func (f fault) failsAll() bool { return f.affects == nil && !f.executes }
