package file_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/fault"
)

// A completion has the preconditions of a save. After a failed precondition, the completion can be sent again.
func TestCompleteWithPrecondition(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	tag := client.Save("/a", "one").Header.Get("ETag")
	a := client.Announce("/a", []byte("two"), nil)
	a.Put(nil)
	create, match := slicetest.Header("If-None-Match", "*"), slicetest.Header("If-Match", tag)
	a.Complete(create).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	client.Save("/a", "three").Want(t, http.StatusOK)
	a.Complete(match).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	client.WantTree("before the completion", 5+3, 1, 3+5+3)
	done := a.Complete(slicetest.Header("If-Match", "*")).Want(t, http.StatusOK)
	client.WantTree("after the completion", 3, 0, 3+5+3)
	// The same request again has the same result, although the precondition is no longer met.
	if again := a.Complete(match).Want(t, http.StatusOK); again.Raw != done.Raw {
		t.Errorf("got %s, want the response %s again", again.Raw, done.Raw)
	}
}

// A repeated completion returns the version that the first one created, as long as this version exists.
func TestCompleteTwice(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	a := client.Announce("/a", []byte("one"), nil)
	a.Put(nil)
	first := a.Complete().Want(t, http.StatusCreated)
	for _, change := range []func(){
		func() {},
		func() { client.Save("/a", "two").Want(t, http.StatusOK) },
		func() { client.Batch(renaming("/a", "/b")).Want(t, http.StatusOK) },
		func() { f.Clock.Advance(23 * time.Hour) },
	} {
		change()
		if again := a.Complete().Want(t, http.StatusOK); again.Raw != first.Raw {
			t.Errorf("got %s, want %s", again.Raw, first.Raw)
		}
	}
	if n := len(client.FileEvents()); n != 4 {
		t.Errorf("got %d events, want one of the upload, one of the save and two of the rename", n)
	}
	f.Clock.Advance(2 * time.Hour)
	a.Complete().Want(t, http.StatusNotFound, fault.CodeUploadNotFound)
}

// An upload of the content that the file already has changes no file, but is completed.
func TestCompleteWithSameContent(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	client := f.NewFilesClient("ada")
	saved := client.Save("/a", "same")
	before := client.Tree()
	a := client.Announce("/a", []byte("same"), nil)
	a.Put(nil)
	for range 2 {
		done := a.Complete().Want(t, http.StatusOK)
		if done.Text("version") != saved.Text("version") {
			t.Errorf("got %s, want the version %s", done.Raw, saved.Text("version"))
		}
	}
	after := client.Tree()
	if before.Uploads, after.Uploads = 0, 0; before != after {
		t.Errorf("got the tree %+v, want %+v", after, before)
	}
	if n := len(client.FileEvents()); n != 1 {
		t.Errorf("got %d events, want 1", n)
	}
	if err := c.Sweep(projecttest.Old); err != nil || len(f.Objects()) != 0 {
		t.Errorf("after a sweep: error %v, objects %v, want none", err, f.Objects())
	}
}

// Concurrent completions of one upload create one version, and all return it.
func TestConcurrentCompletions(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	a := client.Announce("/a", randomBytes(2*mib), nil)
	a.Put(nil)
	responses := slicetest.Concurrently(12, func(int) response { return a.Complete() })
	projecttest.WantStatuses(t, responses, map[int]int{http.StatusCreated: 1, http.StatusOK: 11})
	for _, r := range responses {
		if r.Text("version") != client.Record("/a").Version {
			t.Errorf("got %s, want the version %s", r.Raw, client.Record("/a").Version)
		}
	}
	if n := len(client.FileEvents()); n != 1 {
		t.Errorf("got %d events, want 1", n)
	}
	client.WantTree("after the completions", 2*mib, 0, 2*mib)
}

// An upload can be completed for one hour after its URL has expired. After a day, the sweep removes its object.
func TestCompleteLate(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	client := f.NewFilesClient("ada")
	data := randomBytes(5000)
	inTime, late := client.Announce("/a", data, nil), client.Announce("/b", data, nil)
	if late.Expires != clock.Stamp(f.Clock.Now().Add(15*time.Minute)).String() {
		t.Errorf("got the expiry %s, want 15 minutes after %v", late.Expires, f.Clock.Now())
	}
	inTime.Put(nil)
	late.Put(nil)
	f.Clock.Advance(75 * time.Minute)
	inTime.Complete().Want(t, http.StatusCreated)
	f.Clock.Advance(time.Millisecond)
	late.Complete().Want(t, http.StatusConflict, fault.CodeConflict)
	if err := c.Sweep(projecttest.Old); err != nil {
		t.Fatal(err)
	}
	if got, want := f.Objects(), []string{client.Record("/a").ObjectKey(client.ProjectID)}; !slices.Equal(got, want) {
		t.Errorf("got the objects %v, want %v", got, want)
	}
}

// An object of another size, which the signature does not allow, is not accepted.
func TestCompleteChecksSize(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	for _, size := range []int{100, 2 * mib} {
		a := client.Announce("/a", randomBytes(size), nil)
		key := client.UploadKeys()[a.ID]
		f.PutObject(key, randomBytes(size-1))
		a.Complete().Want(t, http.StatusConflict, fault.CodeConflict)
	}
}

// Two announcements for the same path and content have different objects. So an upload that was interrupted can be
// announced and sent again.
func TestUploadsOfOneFileAreIndependent(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	data := []byte("content")
	first, second := client.Announce("/a", data, nil), client.Announce("/a", data, nil)
	first.Put(nil)
	second.Complete().Want(t, http.StatusConflict, fault.CodeConflict)
	second.Put(nil)
	second.Complete().Want(t, http.StatusCreated)
	first.Complete().Want(t, http.StatusOK)
	client.WantTree("after both", len(data), 0, 2*len(data))
	client.CheckTree()
}
