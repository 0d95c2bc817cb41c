package file_test

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
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// withWritten sets the quota of bytes that a user writes in a day.
func withWritten(n int) projecttest.Option { return func(f *fixture) { f.Quotas.WrittenPerDay = n } }

// wantWritten checks the number of bytes that the user has written on the current day.
func wantWritten(u *user, want int) {
	u.Fixture.T.Helper()
	day := u.Fixture.Clock.Now().UTC().Truncate(24 * time.Hour)
	got := "0"
	if item := u.Fixture.Dump(u.Fixture.Tables.Projects)[db.CounterKey("written", day, u.UserID)]; item != nil {
		got = item["hits"].(*types.AttributeValueMemberN).Value
	}
	if got != fmt.Sprint(want) {
		u.Fixture.T.Errorf("got %s written bytes, want %d", got, want)
	}
}

// Only new content counts against the quota of written bytes. A request that would exceed it changes, stores and counts
// nothing.
func TestQuotaOfWrittenBytes(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t, withWritten(1000))
	client := f.NewFilesClient("ada")
	current := sized(400)
	client.Save("/a", current).Want(t, http.StatusCreated)
	wantWritten(client.User, 400)
	client.Save("/a", current).Want(t, http.StatusOK) // unchanged
	client.Batch(update("/a", current), renaming("/a", "/b").With("path", "/x")).Want(t, http.StatusNotFound)
	client.Save("/a", sized(100), slicetest.Header("If-None-Match", "*")).Want(t, http.StatusPreconditionFailed)
	client.Batch(renaming("/a", "/b")).Want(t, http.StatusOK)
	wantWritten(client.User, 400)
	client.Batch(update("/b", sized(250)), creation("/c", sized(350))).Want(t, http.StatusOK) // reaches it exactly
	wantWritten(client.User, 1000)

	before, stored := storedItemCount(f), contents(client)
	for _, r := range []response{
		client.Save("/d", "x"), client.Save("/b", "x"), client.SaveBytes("/d", randomBytes(10_000)),
		client.Batch(deletion("/c"), creation("/d", "x")),
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
	if n := len(f.Objects()); n != 0 {
		t.Errorf("the refused requests stored %d objects, want 0", n)
	}
	if after := storedItemCount(f); after != before {
		t.Errorf("the refused requests changed the number of items from %d to %d", before, after)
	}
	client.Save("/b", stored["/b"]).Want(t, http.StatusOK) // unchanged
	client.Save("/empty", "").Want(t, http.StatusCreated)
	client.Batch(renaming("/c", "/d")).Want(t, http.StatusOK)
	client.Remove("/d").Want(t, http.StatusOK)
	wantWritten(client.User, 1000)

	bob := f.NewUser("bob")
	f.SetRole(client.Personal, bob, "admin")
	bob.FilesOf(client.ProjectID).Save("/b", sized(700)).Want(t, http.StatusOK)
	wantWritten(bob, 700)
	wantWritten(client.User, 1000)

	midnight := f.Clock.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	f.Clock.Advance(midnight.Sub(f.Clock.Now()) - time.Millisecond)
	client.Save("/d", "x").Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	f.Clock.Advance(time.Millisecond)
	client.Save("/d", sized(900)).Want(t, http.StatusCreated)
	wantWritten(client.User, 900)
	client.Save("/e", sized(1001)).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)

	f.UseProxy(nil).Before("TransactWriteItems", func() {
		other := client.FilesOf(client.Project("", "Other", workspace.Private))
		other.Save("/a", sized(100)).Want(t, http.StatusCreated)
		other.Save("/b", "x").Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
		client.Do(http.MethodDelete, projecttest.URL(client.ProjectID), nil).Want(t, http.StatusOK)
	})
	client.Save("/e", sized(100)).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
}

// The quota of written bytes is exact, even if the user writes to several projects at the same time.
func TestQuotaOfWrittenBytesUnderConcurrency(t *testing.T) {
	t.Parallel()
	const quota = 5000
	f := projecttest.New(t, withWritten(quota))
	ada := f.NewUser("ada")
	var projects []filesClient
	for i := range 3 {
		projects = append(projects, ada.FilesOf(ada.Project("", fmt.Sprint("App ", i), workspace.Private)))
	}
	var written atomic.Int64
	statuses := map[int]int{}
	for range 4 {
		for status, n := range slicetest.CountStatuses(slicetest.Concurrently(16, func(i int) response {
			n := 10 + rand.IntN(250)
			r := projects[i%len(projects)].Save(fmt.Sprint("/", i%5), sized(n))
			if r.Status < http.StatusBadRequest {
				written.Add(int64(n))
			}
			return r
		})) {
			statuses[status] += n
		}
	}
	for _, n := range []int{250, 50, 10} { // fill the rest
		for projects[0].Save("/rest", sized(n)).Status < http.StatusBadRequest {
			written.Add(int64(n))
		}
	}
	total := int(written.Load())
	if total > quota || total <= quota-10 || statuses[http.StatusPaymentRequired] == 0 {
		t.Errorf("got %d written bytes and responses by status %v, want nearly %d bytes and some 402", total, statuses, quota)
	}
	wantWritten(ada, total)
}

// A save counts once if its response from DynamoDB was lost, and not at all if it fails.
func TestWrittenBytesUnderFaults(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	wire := f.UseProxy(nil)
	want := 0
	for _, injected := range projecttest.Faults {
		wire.Break("TransactWriteItems", injected)
		r := client.Save("/"+injected.Name, sized(100))
		wire.Clear()
		if r.Status == http.StatusCreated || injected.Name == dynamotest.LostReplies.Name {
			want += 100
		}
		wantWritten(client.User, want)
	}
}
