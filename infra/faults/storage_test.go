package faults

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/platformtest"
)

// patience is the gateway's, where an answer does not stream.
const patience = 29 * time.Second

// outcome is what became of a request.
type outcome struct {
	request
	answer platformtest.Response
	took   time.Duration
}

// sendAll sends all requests at once.
func sendAll(requests []request) []outcome {
	outcomes := make([]outcome, len(requests))
	var group sync.WaitGroup
	for i, r := range requests {
		group.Go(func() {
			began := time.Now()
			answer := r.send()
			outcomes[i] = outcome{r, answer, time.Since(began)}
		})
	}
	group.Wait()
	return outcomes
}

// survive lets every kind of request meet trouble, and then storage that works again.
func (w *world) survive(t *testing.T, tr trouble, meets func(request) bool) {
	t.Helper()
	w.t, w.ada.T = t, t
	requests := w.requests()
	w.cloud.suffer(tr)
	// Both are read during the trouble, because the clean-up of replaced contents works before and after it.
	before := w.stored()
	outcomes := sendAll(requests)
	after := w.stored()
	hits := w.cloud.mend()
	if tr.happen != nil && hits == 0 {
		t.Fatal("nothing has happened")
	}
	slowest := time.Duration(0)
	for _, o := range outcomes {
		slowest = max(slowest, o.took)
		switch {
		case o.took > patience && !strings.HasPrefix(o.path, "/api/ai/"): // whose answers stream
			t.Errorf("%s took %v", o.name, o.took)
		case slices.Contains(o.good, o.answer.Status) && (meets == nil || !meets(o.request)):
		default:
			checkShape(w, o.request, o.answer)
		}
	}
	t.Logf("%d calls of %d requests met it; the slowest answer took %v", hits, len(requests), slowest.Round(time.Millisecond))
	if !tr.applies && tr.on == nil {
		if changed := difference(before, after); len(changed) > 0 {
			t.Errorf("nothing was answered but 503, and yet there changed %q", changed)
		}
	}
	mended := time.Now()
	w.checkAgain(requests)
	w.audit()
	w.told()
	t.Logf("and %v after its end all was as it should be", time.Since(mended).Round(time.Millisecond))
}

// checkAgain sends requests again, which now succeed, or meet what they did the first time.
func (w *world) checkAgain(requests []request) {
	w.t.Helper()
	for _, r := range requests {
		if a := r.send(); !slices.Contains(append(slices.Clone(r.good), r.again...), a.Status) {
			w.t.Errorf("%s, after it: %d %s", r.name, a.Status, a.Body)
		}
	}
}

// some returns the first three troubles, or all of them in the full form of the tests (make faults). The first three are
// as different as possible.
func some(all ...trouble) []trouble {
	if platformtest.IsFull() {
		return all
	}
	return all[:min(3, len(all))]
}

func every(request) bool { return true }

// While DynamoDB refuses, every request is answered 503 and has changed nothing; as soon as it works, the same processes go on.
func TestStorageRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tr := range some(throughput, failing, refused, throttled, overLimit, proxied, cut) {
		if !t.Run(tr.name, func(t *testing.T) { w.survive(t, tr, every) }) {
			break
		}
	}
}

// Answers are lost on their way, or torn: what was changed is changed wholly, and sending the same again is safe.
func TestAnswersOfStorageAreLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tr := range some(torn, lost.writes(), lost, torn.writes()) {
		if !t.Run(tr.name, func(t *testing.T) { w.survive(t, tr, meeting(tr)) }) {
			break
		}
	}
}

// A part of storage fails: writes alone, or one table. What needs that part is answered 503; nothing is half done.
func TestStorageFailsInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tr := range some(
		throttled.writes(), failing.table("ContentsTable"), throttled.table("WebhooksTable"), throughput.table("EventsTable"),
		throttled.table("ConversationsTable"), failing.table("AccountsTable"),
	) {
		if !t.Run(tr.name, func(t *testing.T) { w.survive(t, tr, meeting(tr)) }) {
			break
		}
	}
}

// Storage takes calls and never answers: a client hears so before the gateway or the function has had enough.
func TestStorageHangs(t *testing.T) {
	t.Parallel()
	for _, tr := range []trouble{dead, hanging.writes(), slow(1500 * time.Millisecond)} {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			newWorld(t).survive(t, tr, meeting(tr))
		})
	}
}

// meeting is nil where some of the calls that a request makes may get through: it may succeed then.
func meeting(tr trouble) func(request) bool {
	if tr.on == nil && !tr.applies {
		return every
	}
	return nil
}
