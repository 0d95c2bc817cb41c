package project

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// withWritten sets the quota of bytes that a user writes in a day.
func withWritten(n int) option { return func(f *fixture) { f.quotas.WrittenPerDay = n } }

// wantWritten checks the number of bytes that the user has written on the current day.
func (u *user) wantWritten(want int) {
	u.f.t.Helper()
	day := u.f.clock.Now().UTC().Truncate(24 * time.Hour)
	got := "0"
	if item := u.f.dump(u.f.tableNames.projects)[db.CounterKey("written", day, u.userID)]; item != nil {
		got = item["hits"].(*types.AttributeValueMemberN).Value
	}
	if got != fmt.Sprint(want) {
		u.f.t.Errorf("got %s written bytes, want %d", got, want)
	}
}

// Only new content counts against the quota of written bytes. A request that would exceed it changes, stores and counts
// nothing.
func TestQuotaOfWrittenBytes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withWritten(1000))
	client := f.newFilesClient("ada")
	current := sized(400)
	client.save("/a", current).Want(t, http.StatusCreated)
	client.wantWritten(400)
	client.save("/a", current).Want(t, http.StatusOK) // unchanged
	client.batch(update("/a", current), renaming("/a", "/b").with("path", "/x")).Want(t, http.StatusNotFound)
	client.save("/a", sized(100), slicetest.Header("If-None-Match", "*")).Want(t, http.StatusPreconditionFailed)
	client.batch(renaming("/a", "/b")).Want(t, http.StatusOK)
	client.wantWritten(400)
	client.batch(update("/b", sized(250)), creation("/c", sized(350))).Want(t, http.StatusOK) // reaches it exactly
	client.wantWritten(1000)

	before, stored := f.storedItemCount(), client.contents()
	for _, r := range []response{
		client.save("/d", "x"), client.save("/b", "x"), client.saveBytes("/d", randomBytes(10_000)),
		client.batch(deletion("/c"), creation("/d", "x")),
	} {
		r.Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
		if r.Calls > 5 {
			t.Errorf("got %d calls to DynamoDB, want at most 5, because the request is not repeated", r.Calls)
		}
		if message := r.Text("error"); !strings.Contains(message, "1000 bytes of written content a day") ||
			!strings.Contains(message, "Try again after midnight UTC") {
			t.Errorf("got the message %q, want one about written content", message)
		}
	}
	if n := len(f.objects()); n != 0 {
		t.Errorf("the refused requests stored %d objects, want 0", n)
	}
	if after := f.storedItemCount(); after != before {
		t.Errorf("the refused requests changed the number of items from %d to %d", before, after)
	}
	client.save("/b", stored["/b"]).Want(t, http.StatusOK) // unchanged
	client.save("/empty", "").Want(t, http.StatusCreated)
	client.batch(renaming("/c", "/d")).Want(t, http.StatusOK)
	client.remove("/d").Want(t, http.StatusOK)
	client.wantWritten(1000)

	bob := f.newUser("bob")
	f.setRole(client.personal, bob, "admin")
	bob.filesOf(client.projectID).save("/b", sized(700)).Want(t, http.StatusOK)
	bob.wantWritten(700)
	client.wantWritten(1000)

	midnight := f.clock.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	f.clock.Advance(midnight.Sub(f.clock.Now()) - time.Millisecond)
	client.save("/d", "x").Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	f.clock.Advance(time.Millisecond)
	client.save("/d", sized(900)).Want(t, http.StatusCreated)
	client.wantWritten(900)
	client.save("/e", sized(1001)).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)

	f.useProxy(nil).Before("TransactWriteItems", func() {
		other := client.filesOf(client.project("", "Other", Private))
		other.save("/a", sized(100)).Want(t, http.StatusCreated)
		other.save("/b", "x").Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
		client.Do(http.MethodDelete, projectURL(client.projectID), nil).Want(t, http.StatusOK)
	})
	client.save("/e", sized(100)).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
}

// The quota of written bytes is exact, also if the user writes to several projects at the same time.
func TestQuotaOfWrittenBytesUnderConcurrency(t *testing.T) {
	t.Parallel()
	const quota = 5000
	f := newFixture(t, withWritten(quota))
	ada := f.newUser("ada")
	var projects []filesClient
	for i := range 3 {
		projects = append(projects, ada.filesOf(ada.project("", fmt.Sprint("App ", i), Private)))
	}
	var written atomic.Int64
	statuses := map[int]int{}
	for range 4 {
		for status, n := range slicetest.CountStatuses(slicetest.Concurrently(16, func(i int) response {
			n := 10 + rand.IntN(250)
			r := projects[i%len(projects)].save(fmt.Sprint("/", i%5), sized(n))
			if r.Status < http.StatusBadRequest {
				written.Add(int64(n))
			}
			return r
		})) {
			statuses[status] += n
		}
	}
	for _, n := range []int{250, 50, 10} { // fill the rest
		for projects[0].save("/rest", sized(n)).Status < http.StatusBadRequest {
			written.Add(int64(n))
		}
	}
	total := int(written.Load())
	if total > quota || total <= quota-10 || statuses[http.StatusPaymentRequired] == 0 {
		t.Errorf("got %d written bytes and responses by status %v, want nearly %d bytes and some 402", total, statuses, quota)
	}
	ada.wantWritten(total)
}

// A save counts once if its response from DynamoDB was lost, and not at all if it fails.
func TestWrittenBytesUnderFaults(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	wire := f.useProxy(nil)
	want := 0
	for _, injected := range faults {
		wire.Break("TransactWriteItems", injected)
		r := client.save("/"+injected.Name, sized(100))
		wire.Clear()
		if r.Status == http.StatusCreated || injected.Name == dynamotest.LostReplies.Name {
			want += 100
		}
		client.wantWritten(want)
	}
}
